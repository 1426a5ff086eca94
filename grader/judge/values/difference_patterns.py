"""Describe regular differences in numbers, for when no known mistake fits: a factor, a transpose, a shifted row."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from grader.judge.values.compare import is_array, to_numpy
from grader.judge.values.scale_patterns import (
    Sizes,
    describe_angles,
    describe_number,
    describe_other_ratio,
    describe_ratio,
    describe_sums,
    describe_zeros,
)

MAX_SLICES = 64  # along one axis, each of which is compared with each
MAX_PARTS = 6  # of an answer, each of which is compared with each
MIN_OFF, MAX_OFF = 3, 2  # so many values and more, by so much and less
_NAMES = {  # of the axes, by how many there are
    1: ["entry"],
    2: ["row", "column"],
    3: ["batch item", "row", "column"],
    4: ["batch item", "head", "row", "column"],
}


class Fact(NamedTuple):
    """What is regular in wrong answers: `kind` is the id under which it is named, empty where it names nothing."""

    kind: str
    says: str


def first_array_pair(actual: Any, expected: Any) -> tuple[Any, Any] | None:
    """Return the first two arrays in two observations that differ, as numpy arrays."""
    if is_array(expected):
        return (to_numpy(actual), to_numpy(expected)) if is_array(actual) else None
    if isinstance(expected, dict) and isinstance(actual, dict):
        pairs = [(actual.get(key), value) for key, value in expected.items()]
    elif isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        pairs = list(zip(actual, expected, strict=False))
    else:
        return None
    for a, e in pairs:
        pair = first_array_pair(a, e)
        if pair is not None and not _close(*pair):
            return pair
    return None


def find_patterns(
    actual: Any, expected: Any, sizes: Sizes | None = None, others: Sequence[tuple[Any, Any]] = ()
) -> list[Fact]:
    """Describe the patterns in how two observations of a probe differ; empty where there is none.

    Args:
        sizes: What each size of the inputs is, from which a constant may come.
        others: Observations of other probes, each with what is expected, which tell whether a factor is a constant.
    """
    if isinstance(actual, float) and isinstance(expected, float):
        return _facts([("wrong-factor", describe_number(actual, expected, sizes or {}))])
    pair = first_array_pair(actual, expected)
    if pair is None:
        return []
    a, e = pair
    if a.shape != e.shape:
        return _facts([("wrong-order", _other_shape(a, e))])
    if a.dtype.kind == "b" or e.dtype.kind == "b":
        detectors: list[tuple[str, Callable[[Any, Any], str]]] = [("inverted", _inversion)]
    else:
        pairs = [pair for other in others if (pair := first_array_pair(*other)) is not None]
        if varying := describe_other_ratio(a, e, sizes or {}, pairs):
            return [Fact("wrong-scale", varying)]
        of_all = partial(describe_ratio, others=pairs)
        scales = (("wrong-factor", of_all), ("wrong-weights", describe_sums), ("wrong-factor", describe_angles))
        detectors = [("", _nans), ("all-zero", describe_zeros)]
        detectors += [(kind, partial(each, sizes=sizes or {})) for kind, each in scales]
        detectors += [("wrong-factor", _sign), ("wrong-factor", partial(_offset, others=pairs))]
    shifted = [] if a.dtype.kind == "b" else [("wrong-order", _row_shift)]
    detectors += [("wrong-order", _axes), ("wrong-order", _order), *shifted, ("", _rows)]
    return _facts([(kind, detector(a, e)) for kind, detector in detectors])[:2]


def find_exchanged_parts(answers: Iterable[tuple[Any, Any]]) -> list[Fact]:
    """Tell in which order the parts of a wrong answer are, where all of the right one are there.

    Args:
        answers: Observations, each with what is expected.
    """
    said = filter(None, (_other_parts(*pair) for pair in answers))
    return [Fact("wrong-parts", says) for says in itertools.islice(said, 1)]


def _other_parts(actual: Any, expected: Any) -> str:
    if not isinstance(actual, list | tuple) or not isinstance(expected, list | tuple) or len(actual) != len(expected):
        return ""
    shapes, others = (sorted(tuple(each.shape) for each in side if is_array(each)) for side in (actual, expected))
    if not (2 <= len(shapes) == len(actual) <= MAX_PARTS and shapes == others):  # before any is widened to be compared
        return next(filter(None, map(_other_parts, actual, expected)), "")
    mine, right = ([to_numpy(part) for part in side] for side in (actual, expected))
    found = [[number for number, part in enumerate(mine, 1) if _close(part, each)] for each in right]
    order = [hits[0] for hits in found if len(hits) == 1]
    if sorted(order) != list(range(1, len(right) + 1)) or order == sorted(order):
        return ""
    numbers = ", ".join(map(str, order))
    return f"All parts of what it returns are there, in another order: expected part 1, 2, ... is your part {numbers}."


def _facts(found: Iterable[tuple[str, str]]) -> list[Fact]:
    return [Fact(kind, says) for kind, says in found if says]


def _close(a: Any, e: Any) -> bool:
    import numpy

    if a.shape != e.shape:
        return False
    if a.dtype.kind == "b" or e.dtype.kind == "b":
        return bool((a == e).all())
    return bool(numpy.allclose(a, e, rtol=0, atol=1e-4, equal_nan=True))


def _other_shape(a: Any, e: Any) -> str:
    if a.size != e.size:
        return ""
    squeezed = a.squeeze()
    if squeezed.shape == e.shape and _close(squeezed, e):
        return f"The values are right, in shape {a.shape} instead of {e.shape}: an extra axis of size 1."
    if moved := _axes(a, e):
        return moved
    if _close(a.reshape(e.shape), e):
        return f"The values are right and in the right order, in shape {a.shape} instead of {e.shape}."
    return ""


def _nans(a: Any, e: Any) -> str:
    import numpy

    new = numpy.isnan(a) & ~numpy.isnan(e)
    if not new.any():
        return ""
    return f"{int(new.sum())} of {a.size} values are NaN where numbers are expected (0/0, inf − inf or 0·inf)."


def _sign(a: Any, e: Any) -> str:
    return "Every value has the opposite sign." if _close(-a, e) and abs(e).max() > 1e-3 else ""


def _offset(a: Any, e: Any, others: Sequence[tuple[Any, Any]]) -> str:
    """Name the small whole number by which all values are off, in every wrong answer that has the right shape."""
    import numpy

    fitting = [(mine, right) for mine, right in ((a, e), *others) if mine.shape == right.shape]
    off = numpy.concatenate([(mine - right).ravel() for mine, right in fitting])
    by = float(numpy.round(off[0])) if off.size > MIN_OFF else 0.0
    is_one = 0 < abs(by) <= MAX_OFF and numpy.allclose(off, by, rtol=0, atol=1e-4)
    return f"Every value is {abs(by):g} too {'large' if by > 0 else 'small'}." if is_one else ""


def _inversion(a: Any, e: Any) -> str:
    opposite = bool((a.astype(bool) == ~e.astype(bool)).all())
    return "It is exactly the opposite: True where False is expected." if opposite else ""


def _axes(a: Any, e: Any) -> str:
    """Name the order of axes that would be right."""
    if not 2 <= e.ndim <= 4 or a.ndim != e.ndim:
        return ""
    if _close(a.swapaxes(-1, -2), e):
        if a.shape == e.shape:
            return "It is the transpose of what is expected: rows and columns are exchanged."
        return f"The values are right, but the last two axes are exchanged: {a.shape} instead of {e.shape}."
    for order in itertools.permutations(range(e.ndim)):
        moved = a.transpose(order)
        if order != tuple(range(e.ndim)) and moved.shape == e.shape and _close(moved, e):
            return f"The values are right, with their axes in another order: `permute{order}` of your answer is right."
    return ""


def _order(a: Any, e: Any) -> str:
    """Name the axis along which everything is there, in another order."""
    for axis, name in reversed(list(enumerate(_NAMES.get(a.ndim, [])))):
        mine, right = a.swapaxes(0, axis), e.swapaxes(0, axis)
        if not 2 <= len(right) <= MAX_SLICES:
            continue
        found = [[number for number in range(len(mine)) if _close(mine[number], each)] for each in right]
        order = [hits[0] for hits in found if len(hits) == 1]
        if sorted(order) == list(range(len(right))) != order:
            shown, more = ", ".join(map(str, order[:6])), ", ..." if len(order) > 6 else ""
            return f"Every {name} is there, in another order: expected {name} 0, 1, ... is your {name} {shown}{more}."
    return ""


def _row_shift(a: Any, e: Any) -> str:
    """Tell that all rows have moved by one; of rows that are right where they stand, too, that is chance."""
    if a.ndim < 2 or a.shape[-2] < 3:
        return ""
    late, early = slice(1, None), slice(None, -1)
    if _close(a[..., late, :], e[..., early, :]) and not _close(a[..., late, :], e[..., late, :]):
        return "Every row is one too late: your row i + 1 is the expected row i."
    if _close(a[..., early, :], e[..., late, :]) and not _close(a[..., early, :], e[..., early, :]):
        return "Every row is one too early: your row i is the expected row i + 1."
    return ""


def _rows(a: Any, e: Any) -> str:
    """Name the slices along one axis that are right, if some are and some are not."""
    import numpy

    with numpy.errstate(all="ignore"):
        off = numpy.nan_to_num(abs(a.astype(float) - e.astype(float)), nan=numpy.inf)
    off = numpy.where((numpy.isnan(a) & numpy.isnan(e)) | (a == e), 0.0, off)  # of an array of no axis it is a number
    wrong = off > 1e-4
    for axis, name in enumerate(_NAMES.get(a.ndim, [])):
        size = a.shape[axis]
        others = tuple(i for i in range(a.ndim) if i != axis)
        right = [int(i) for i in numpy.flatnonzero(~wrong.any(axis=others))]
        worst = off.max(axis=others)
        # what is off by little everywhere is right nowhere
        if 0 < len(right) < size and 10 * worst[right].max() < worst[worst > 1e-4].min():
            if right == [size - 1]:
                return f"Only the last {name} is right."
            if right == [0]:
                return f"Only the first {name} is right."
            bad = [i for i in range(size) if i not in right]
            if len(bad) == 1:
                return f"Only {name} {bad[0]} is wrong."
            return f"Right for {name} {_first_of(right)}; wrong for {_first_of(bad)}."
    return ""


def _first_of(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:6])) + (", ..." if len(numbers) > 6 else "")
