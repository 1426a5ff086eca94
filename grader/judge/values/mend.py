"""Bring a value into the form of another one: container, axes of size 1, dtype. What it says is left as it is."""

from __future__ import annotations

import math
from typing import Any

from grader.judge.values.compare import dtype_name, is_array, is_tensor

# Of the largest value: what half precision loses. More would be a mistake, and hidden by its dtype.
HALF_ROUNDING = {"float16": 0.005, "bfloat16": 0.02}
LEAST_EXACT = 0.9  # of the values are the right ones, rounded: a small mistake moves more of them by one digit
MAX_GROWTH = 16  # times the values asked for, an array is still brought into another form


def mend(value: Any, expected: Any, faults: set[str]) -> Any:
    """Return `value` in the form of `expected`, as far as it can be brought into it.

    Args:
        faults: Takes the kinds of what had to be mended: container, axis, dtype.
    """
    if isinstance(expected, dict) and isinstance(value, dict):
        return {key: mend(item, expected[key], faults) if key in expected else item for key, item in value.items()}
    found = as_asked(value, expected, axes=True)
    if found is None:
        return value
    if found is not value:
        faults |= _faults_of(value, expected)
    if isinstance(expected, dict):
        return mend(found, expected, faults)
    if isinstance(expected, list | tuple):
        return type(expected)(mend(v, e, faults) for v, e in zip(found, expected, strict=True))
    return found


def as_asked(value: Any, expected: Any, axes: bool = False) -> Any:
    """Return `value` in the container and dtype of `expected`; None if it cannot be converted.

    Args:
        axes: Axes of size 1 are brought into order, too.
    """
    if is_array(expected):
        return _as_array(value, expected, axes)
    if isinstance(expected, list | tuple):
        return _as_sequence(value, expected)
    if isinstance(expected, dict):
        return _as_dict(value, expected)
    return _as_number(value, type(expected)) if isinstance(expected, float | bool) else None


def fitting_item(value: Any, expected: Any) -> Any:
    """Return the number or key of the item of a list, tuple or dict that has the shape of an array, or None."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    return next((number for number, item in items if is_array(item) and _has_axes_of(item, expected)), None)


def _faults_of(value: Any, expected: Any) -> set[str]:
    """Name what is wrong with the form of a value that can be converted."""
    number = fitting_item(value, expected) if is_array(expected) else None
    item = value if number is None else value[number]
    if not is_array(item) or not is_array(expected):
        return {"container"}
    found = {"container"} if item is not value or is_tensor(item) != is_tensor(expected) else set()
    found |= {"axis"} if item.shape != expected.shape else set()
    return found | ({"dtype"} if dtype_name(item) != dtype_name(expected) else set())


def _as_number(value: Any, kind: type) -> Any:
    if isinstance(value, list | tuple):
        found = [item for item in value if isinstance(item, kind)]
        return found[0] if len(found) == 1 else None
    fits = is_array(value) and ("complex" not in dtype_name(value) if kind is float else dtype_name(value) == "bool")
    return kind(value.reshape(())) if fits and math.prod(value.shape) == 1 else None


def _as_dict(value: Any, expected: dict[Any, Any]) -> Any:
    if isinstance(value, list | tuple):
        found = [item for item in value if isinstance(item, dict) and item.keys() == expected.keys()]
        return found[0] if len(found) == 1 else None
    return None


def _as_sequence(value: Any, expected: Any) -> Any:
    numbers = is_array(value) and value.shape == (len(expected),) and all(isinstance(item, float) for item in expected)
    found = value.tolist() if numbers else value
    if _depth(found) > _depth(expected):
        found = found[0]  # with the weights behind it
    if not isinstance(found, list | tuple) or len(found) != len(expected):
        return None
    return found if type(found) is type(expected) else type(expected)(found)


def _depth(value: Any) -> int:
    """Count the lists and tuples that begin one in the other."""
    depth = 0
    while isinstance(value, list | tuple) and len(value) > 0:
        value, depth = value[0], depth + 1
    return depth


def _as_array(value: Any, expected: Any, axes: bool) -> Any:
    # a dict that a probe saw may be its own words for an answer
    number = fitting_item(value, expected) if axes or not isinstance(value, dict) else None
    if number is not None:
        return _as_array(value[number], expected, axes)
    if isinstance(value, tuple | dict) or has_far_more(value, expected):
        return None
    try:
        found = _with_dtype(_with_library(value, expected), expected)
        if axes and found is not None and found.shape != expected.shape and _has_axes_of(found, expected):
            return found.reshape(expected.shape)
        return found
    except (TypeError, ValueError, RuntimeError):
        return None


def _with_library(value: Any, expected: Any) -> Any:
    """Return a tensor or an array of numpy, as the expected one is."""
    if is_tensor(value) == is_tensor(expected) and is_array(value):
        return value
    if is_tensor(expected):
        import torch  # not at the top: a course of numpy goes without

        return torch.as_tensor(value)
    import numpy

    return value.detach().numpy() if is_tensor(value) else numpy.asarray(value)


def _with_dtype(value: Any, expected: Any) -> Any:
    """Return an array in the dtype of another one; None if that would change what it says."""
    if value.dtype == expected.dtype:
        return value
    if dtype_name(expected) == "bool" and bool(((value != 0) & (value != 1)).any()):
        return None
    if not is_tensor(value):  # numpy makes an array of anything, of None too
        return value.astype(expected.dtype) if value.dtype.kind in "biufc" else None
    found = value.to(expected.dtype)
    return expected.clone() if _is_rounded(value, found, expected) else found


def _is_rounded(value: Any, found: Any, expected: Any) -> bool:
    """Return True for an answer in half precision that is as right as its dtype can say."""
    share = HALF_ROUNDING.get(dtype_name(value))
    finite = expected[expected.isfinite()] if share else expected
    if share is None or value.shape != expected.shape or not finite.numel():
        return False
    near = bool(((found - expected).abs() <= share * finite.abs().max()).all())
    return near and bool((value == expected.to(value.dtype)).double().mean() >= LEAST_EXACT)


def has_far_more(value: Any, expected: Any) -> bool:
    """Return True if a value's size is its fault, whatever its form: a copy in another one would only be large."""
    alike = isinstance(value, list | tuple) and isinstance(expected, list | tuple) and len(value) == len(expected)
    if alike and any(map(has_far_more, value, expected)):
        return True
    return _count(value) > MAX_GROWTH * (1 + _count(expected))


def _count(value: Any) -> int:
    return (
        int(math.prod(value.shape)) if is_array(value) else len(value) if isinstance(value, list | tuple | dict) else 1
    )


def _has_axes_of(value: Any, expected: Any) -> bool:
    """Return True if two arrays have the same axes, but for those of size 1."""
    return [size for size in value.shape if size != 1] == [size for size in expected.shape if size != 1]
