"""Describe regular differences in numbers, for when no known mistake fits: a factor, a transpose, a shifted row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from grader.judge.values.compare import is_array, to_numpy

RTOL = 1e-3


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


def find_patterns(actual: Any, expected: Any) -> list[str]:
    """Describe the patterns in how two observations of a probe differ; empty where there is none."""
    pair = first_array_pair(actual, expected)
    if pair is None:
        return []
    a, e = pair
    if a.shape != e.shape:
        return [text for text in (_other_shape(a, e),) if text]
    if a.dtype.kind == "b" or e.dtype.kind == "b":
        detectors: tuple[Callable[[Any, Any], str], ...] = (_inversion, _transpose, _rows)
    else:
        detectors = (_nans, _constant_ratio, _sign, _transpose, _column_order, _row_shift, _rows)
    return [text for detector in detectors if (text := detector(a, e))][:2]


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
    if a.ndim == e.ndim and a.ndim >= 2 and _close(a.swapaxes(-1, -2), e):
        return f"The values are right, but the last two axes are exchanged: {a.shape} instead of {e.shape}."
    return ""


def _nans(a: Any, e: Any) -> str:
    import numpy

    new = numpy.isnan(a) & ~numpy.isnan(e)
    if not new.any():
        return ""
    return f"{int(new.sum())} of {a.size} values are NaN where numbers are expected (0/0, inf − inf or 0·inf)."


def _constant_ratio(a: Any, e: Any) -> str:
    import numpy

    big = numpy.abs(e) > 1e-3
    if big.sum() < 3 or not numpy.isfinite(a).all():
        return ""
    if not a.any():
        return "Every value is 0."
    ratios = a[big] / e[big]
    ratio = float(numpy.median(ratios))
    if abs(ratio - 1) < 1e-3 or abs(ratio + 1) < 1e-3 or not numpy.allclose(ratios, ratio, rtol=RTOL):
        return ""
    return f"Every value is {ratio:.4g} times what is expected: a constant factor is missing or too much."


def _sign(a: Any, e: Any) -> str:
    return "Every value has the opposite sign." if _close(-a, e) and abs(e).max() > 1e-3 else ""


def _inversion(a: Any, e: Any) -> str:
    opposite = bool((a.astype(bool) == ~e.astype(bool)).all())
    return "It is exactly the opposite: True where False is expected." if opposite else ""


def _transpose(a: Any, e: Any) -> str:
    if a.ndim < 2 or a.shape[-1] != a.shape[-2] or not _close(a.swapaxes(-1, -2), e):
        return ""
    return "It is the transpose of what is expected: rows and columns are exchanged."


def _column_order(a: Any, e: Any) -> str:
    import numpy

    if a.ndim < 2 or a.shape[-1] < 3 or _close(a, e):
        return ""
    flat_a, flat_e = a.reshape(-1, a.shape[-1]), e.reshape(-1, e.shape[-1])
    order = []
    for column in range(flat_e.shape[1]):
        hits = [c for c in range(flat_a.shape[1]) if numpy.allclose(flat_a[:, c], flat_e[:, column], atol=1e-4)]
        if len(hits) != 1:
            return ""
        order.append(hits[0])
    if sorted(order) != list(range(len(order))):
        return ""
    shown = ", ".join(map(str, order[:6]))
    return f"Every column is there, in another order: expected column 0, 1, 2, ... is your column {shown}."


def _row_shift(a: Any, e: Any) -> str:
    if a.ndim < 2 or a.shape[-2] < 3:
        return ""
    if _close(a[..., 1:, :], e[..., :-1, :]):
        return "Every row is one too late: your row i + 1 is the expected row i."
    if _close(a[..., :-1, :], e[..., 1:, :]):
        return "Every row is one too early: your row i is the expected row i + 1."
    return ""


def _rows(a: Any, e: Any) -> str:
    """Name the slices along one axis that are right, if some are and some are not."""
    import numpy

    wrong = ~numpy.isclose(a.astype(float), e.astype(float), rtol=0, atol=1e-4, equal_nan=True)
    names = {
        1: ["entry"],
        2: ["row", "column"],
        3: ["batch item", "row", "column"],
        4: ["batch item", "head", "row", "column"],
    }
    for axis, name in enumerate(names.get(a.ndim, [])):
        size = a.shape[axis]
        others = tuple(i for i in range(a.ndim) if i != axis)
        right = [int(i) for i in numpy.flatnonzero(~wrong.any(axis=others))]
        if 0 < len(right) < size:
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
