"""How an array is related to another one: equal, or equal but for its form, a factor, a shift, an order of axes."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from grader.judge.values.compare import ATOL, to_numpy

RTOL = 1e-4
MAX_SIZE = 1024  # that a factor is taken to come from
MAX_AXES = 4  # whose orders are all tried
EQUAL = "equal"
OPPOSITE = "its opposite"
SLICES = "a number of its own for each"


def relate(array: Any, other: Any) -> str:
    """Return in words how an array is related to another: `EQUAL`, or what it is instead; empty where it is not.

    One with a single value throughout is related to nothing but its equals.
    """
    a, b = to_numpy(array), to_numpy(other)
    if a.shape == b.shape and is_close(a, b):
        return EQUAL
    if a.size < 2 or b.size < 2 or is_close(b, b.flat[0]) or is_close(a, a.flat[0]):
        return ""
    with_kind = _boolean if a.dtype.kind == "b" and b.dtype.kind == "b" else _numeric
    if (a.dtype.kind == "b") != (b.dtype.kind == "b"):
        return ""
    return next((words for words, holds in (*_forms(a, b), *with_kind(a, b)) if holds()), "")


def is_close(a: Any, b: Any, rtol: float = RTOL, atol: float = ATOL / 10) -> bool:
    """Return True if two arrays of numpy that fit each other are the same but for rounding."""
    import numpy

    with numpy.errstate(all="ignore"):
        return bool(numpy.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True))


def is_reshaped(a: Any, b: Any) -> bool:
    """Return True if two arrays of numpy have the same numbers in the same order, and another shape."""
    return a.size == b.size and a.shape != b.shape and is_close(a.reshape(b.shape), b)


Test = tuple[str, Callable[[], bool]]


def _forms(a: Any, b: Any) -> Iterator[Test]:
    """Yield the ways in which all values are there, elsewhere."""
    yield f"that in shape {a.shape} instead of {b.shape}", partial(is_reshaped, a, b)
    if a.ndim == b.ndim and 2 <= a.ndim <= MAX_AXES and sorted(a.shape) == sorted(b.shape):
        for order in list(itertools.permutations(range(a.ndim)))[1:]:
            if tuple(b.shape[axis] for axis in order) == a.shape:
                yield _name_order(order), partial(_is_permuted, a, b, order)
    longer = [axis for axis in range(a.ndim) if a.ndim == b.ndim and a.shape[axis] > b.shape[axis] > 0]
    if len(longer) == 1 and a.size % b.size == 0:
        times = a.size // b.size
        yield f"it with every entry along axis {longer[0]} {times} times", lambda: _is_repeated(a, b, longer[0], times)
    if a.ndim > b.ndim > 0 and a.shape[-b.ndim :] == b.shape:
        yield f"it broadcast to shape {a.shape}", lambda: is_close(a, b)
    if a.ndim == b.ndim - 1:
        for axis in range(b.ndim):
            for place in range(b.shape[axis]):
                yield f"a slice of it along axis {axis}", partial(_is_slice, a, b, axis, place)


def _name_order(order: tuple[int, ...]) -> str:
    moved = [axis for axis, come in enumerate(order) if axis != come]
    if len(moved) == 2:
        return f"it with axes {moved[0]} and {moved[1]} exchanged"
    return f"it with its axes in the order {order}"


def _is_permuted(a: Any, b: Any, order: tuple[int, ...]) -> bool:
    return is_close(a, b.transpose(order))


def _is_repeated(a: Any, b: Any, axis: int, times: int) -> bool:
    """Return True if an array has each slice of another several times in a row, or the whole of it side by side."""
    import numpy

    made = (numpy.repeat(b, times, axis), numpy.concatenate([b] * times, axis))
    return any(each.shape == a.shape and is_close(a, each) for each in made)


def _is_slice(a: Any, b: Any, axis: int, place: int) -> bool:
    part = b.take(place, axis)
    return part.shape == a.shape and is_close(a, part)


def _boolean(a: Any, b: Any) -> Iterator[Test]:
    if a.shape == b.shape:
        yield OPPOSITE, lambda: bool((a != b).all())


def _numeric(a: Any, b: Any) -> Iterator[Test]:
    import numpy

    if a.shape != b.shape or a.dtype.kind not in "fiu" or b.dtype.kind not in "fiu":
        return
    finite = numpy.isfinite(a) & numpy.isfinite(b)
    if finite.sum() < 3 or not (numpy.isfinite(a) == numpy.isfinite(b)).all():
        return
    with numpy.errstate(all="ignore"):
        tiny = finite & (numpy.abs(b) <= ATOL)
        ratio = numpy.where(finite & ~tiny, a / b, numpy.nan)
        ratio[tiny & (numpy.abs(a) > 10 * ATOL)] = numpy.inf
        shift = numpy.where(finite, a - b, numpy.nan)
    for name, found in ((_name_factor, ratio), ("it plus {:.4g}".format, shift)):
        middle = float(numpy.nanmedian(found)) if numpy.isfinite(found).sum() > 2 else numpy.nan
        if numpy.isfinite(middle) and abs(middle) > ATOL:
            yield name(middle), partial(_spread_is_small, found, None)
    for axis in range(a.ndim):
        if 2 < a.shape[axis] < a.size:  # of slices of one number each it is always true
            each = {1: "row", 2: "column"}.get(a.ndim - axis, f"vector along axis {axis}")
            yield f"it times {SLICES} {each}", partial(_spread_is_small, ratio, axis)
            yield f"it plus {SLICES} {each}", partial(_spread_is_small, shift, axis)


def _name_factor(factor: float) -> str:
    """Write a factor as a size makes it, 12, √12, 1/12 or 1/√12, where it is so, else in digits."""
    large = min(max(factor, 1 / factor), 2.0 * MAX_SIZE)  # beyond that it is none of these, and has no square
    for sign, number in (("", large), ("√", large**2)):
        size = round(number)
        if 2 <= size <= MAX_SIZE and abs(number / size - 1) < RTOL:
            return f"{sign if factor > 1 else f'1/{sign}'}{size} times it"
    return f"{factor:.4g} times it"


def _spread_is_small(found: Any, axis: int | None) -> bool:
    """Return True if numbers are the same, or the same along an axis; NaN stands for those that do not count."""
    import numpy

    counted = ~numpy.isnan(found)
    if not numpy.isfinite(found[counted]).all() or 2 * counted.sum() <= found.size:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a slice of NaN alone
        low, high = numpy.nanmin(found, axis), numpy.nanmax(found, axis)
    return bool(((numpy.abs(high - low) <= RTOL * numpy.abs(high)) | numpy.isnan(high)).all())
