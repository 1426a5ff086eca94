"""Describe by which constant numbers differ, and where such a constant comes from: a size, its root, degrees."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

RTOL = 1e-3
DIFFERENT = 1e-2  # by how much two factors differ that are not the same
SIZE_RTOL = 3e-4  # how near a constant has to be to one that a size explains
SMALL = 4  # a factor of up to so much, or a part, is there for many a reason: an axis, or its root, equals it by chance
Sizes = Mapping[int, str]  # what each size of the inputs is: "the last axis of `q`"


def name_constant(number: float, sizes: Sizes) -> str:
    """Say what a factor is: " (1/√8, and 8 is the last axis of `q`)"; empty if nothing explains it."""
    fits = [words for value, words in _known_constants(sizes) if abs(number / value - 1) < SIZE_RTOL]
    return f" ({fits[0]})" if len(fits) == 1 else ""


def _known_constants(sizes: Sizes) -> Iterator[tuple[float, str]]:
    yield math.pi / 180, "π/180: degrees where radians are meant"
    yield 180 / math.pi, "180/π: radians where degrees are meant"
    for size, owner in sizes.items():
        if size > 1:
            if size > SMALL:
                yield float(size), f"{size} is {owner}"
                yield 1 / size, f"1/{size}, and {size} is {owner}"
            if math.isqrt(size) ** 2 != size or size > SMALL**2 or owner.startswith("the last axis of"):
                yield math.sqrt(size), f"√{size}, and {size} is {owner}"
                yield 1 / math.sqrt(size), f"1/√{size}, and {size} is {owner}"


def describe_number(a: float, e: float, sizes: Sizes) -> str:
    """Describe a factor of a single number; chance gives one of these rarely."""
    if not e or not a or abs(a / e - 1) < RTOL:
        return ""
    for size, owner in sizes.items():
        if size > 1 and abs(a / e / size - 1) < SIZE_RTOL:
            return f"It is {size} times what is expected, and {size} is {owner}."
        if size > 1 and abs(a / e * size - 1) < SIZE_RTOL:
            return f"It is 1/{size} of what is expected, and {size} is {owner}."
    return ""


def describe_ratio(a: Any, e: Any, sizes: Sizes, others: Iterable[tuple[Any, Any]] = ()) -> str:
    """Describe a factor between all values, which is not 0; one that no size explains is in the other answers, too."""
    ratio = ratio_of(a, e)
    if not ratio:
        return ""
    named = name_constant(ratio, sizes)
    if not named and any(has_no_ratio(*pair) for pair in others):
        return ""
    return f"Every value is {ratio:.4g} times what is expected{named}: a constant factor is missing or too much."


def describe_zeros(a: Any, e: Any) -> str:
    """Tell if all values are 0, and should not be: no factor is missing, all is lost."""
    return "Every value is 0." if ratio_of(a, e) == 0 else ""


def describe_other_ratio(a: Any, e: Any, sizes: Sizes, others: Iterable[tuple[Any, Any]]) -> str:
    """Describe a factor between all values that no size explains, and that is another one in another answer."""
    ratio = ratio_of(a, e)
    if not ratio or name_constant(ratio, sizes):
        return ""
    found = (ratio_of(*pair) for pair in others)
    other = next((each for each in found if each and abs(each / ratio - 1) > DIFFERENT), None)
    if other is None:
        return ""
    return (
        f"Every value is {ratio:.4g} times what is expected, and in another call {other:.4g} times: "
        "the factor is wrong, and is no constant."
    )


def has_no_ratio(a: Any, e: Any) -> bool:
    """Return True if there is no one factor between the values of a wrong answer, and enough to see it."""
    import numpy

    seen = a.shape == e.shape and (numpy.abs(e) > 1e-3).sum() >= 3 and numpy.isfinite(a).all()
    return bool(seen) and ratio_of(a, e) is None and not numpy.allclose(numpy.abs(a), numpy.abs(e), rtol=RTOL, atol=0)


def ratio_of(a: Any, e: Any) -> float | None:
    """Return the one factor between all values, 0 where all are 0; None if there is none, or it is 1 or −1."""
    import numpy

    big = numpy.abs(e) > 1e-3
    if a.shape != e.shape or big.sum() < 3 or not numpy.isfinite(a).all():
        return None
    if not a.any():
        return 0.0
    ratios = a[big] / e[big]
    ratio = float(numpy.median(ratios))
    if abs(ratio - 1) < 1e-3 or abs(ratio + 1) < 1e-3 or not numpy.allclose(ratios, ratio, rtol=RTOL):
        return None
    return ratio


def describe_sums(a: Any, e: Any, sizes: Sizes) -> str:
    """Describe what sums to 1 and should, where it does not; or the scale of scores with whose softmax it would."""
    import numpy

    axes = [axis for axis in range(-1, -e.ndim - 1, -1) if e.shape[axis] > 1 and _sums_to_one(e, axis)]
    if not axes or (e < 0).any() or not numpy.isfinite(a).all():
        return ""
    axis = axes[0]
    if _sums_to_one(a, axis):
        return _describe_temperature(a, e, axis, sizes)
    sums = a.sum(axis)
    low, high = float(sums.min()), float(sums.max())
    found = f"{low:.4g}" if high - low < 1e-3 else f"{low:.4g} to {high:.4g}"
    along = "the last axis" if axis == -1 else f"axis {axis + e.ndim}"
    return f"Along {along} the values sum to {found}, and should sum to 1."


def _sums_to_one(values: Any, axis: int) -> bool:
    import numpy

    return bool(numpy.allclose(values.sum(axis), 1.0, rtol=0, atol=1e-3))


def _describe_temperature(a: Any, e: Any, axis: int, sizes: Sizes) -> str:
    import numpy

    if a.min() <= 1e-6 or e.min() <= 1e-6:
        return ""
    mine, right = (logs - logs.mean(axis, keepdims=True) for logs in (numpy.log(a), numpy.log(e)))
    if (numpy.abs(right) > 1e-2).sum() < 3:
        return ""
    scale = float((mine * right).sum() / (right * right).sum())
    if abs(scale - 1) < 1e-2 or not numpy.allclose(mine, scale * right, rtol=0, atol=1e-3):
        return ""
    if abs(scale) < 1e-3:
        return "All weights of a slice are equal: the scores make no difference."
    return f"These are the right weights for scores {scale:.4g} times as large{name_constant(scale, sizes)}."


def describe_angles(a: Any, e: Any, sizes: Sizes) -> str:
    """Describe a factor of all angles whose sines stand in every other column, row by row."""
    import numpy

    if e.ndim != 2 or e.shape[0] < 3 or e.shape[1] < 4 or not numpy.isfinite(a).all():
        return ""
    mine, right = a[:, 0::2], e[:, 0::2]
    if abs(right).max() > 1 or abs(mine).max() > 1:
        return ""
    steps = numpy.arange(len(e))[:, None] * numpy.arcsin(right[1])
    if not numpy.allclose(numpy.sin(steps), right, atol=1e-4) or not (numpy.arcsin(right[1]) > 1e-4).any():
        return ""
    widest = int(numpy.argmax(numpy.arcsin(right[1])))
    scale = float(numpy.arcsin(mine[1, widest]) / numpy.arcsin(right[1, widest]))
    if abs(scale - 1) < 1e-2 or abs(scale) < 1e-4 or not numpy.allclose(numpy.sin(scale * steps), mine, atol=1e-4):
        return ""
    return f"Every angle is {scale:.4g} times what is expected{name_constant(scale, sizes)}."
