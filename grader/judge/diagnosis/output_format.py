"""Convert observations to the form that was asked for: lists, numpy arrays, tuples, other dtypes."""

from __future__ import annotations

from typing import Any

import numpy

from grader.judge.diagnosis.mistake_outputs import NO_EVIDENCE
from grader.judge.values.compare import Raised, is_array, is_tensor, kind_of


def reformat(value: Any, expected: Any, notes: list[str]) -> Any:
    """Return `value` in the form of `expected`, if it holds the same kind of data in another container or dtype.

    What a probe could not use for its form becomes NO_EVIDENCE.

    Args:
        notes: Takes a sentence for each form that had to be changed.
    """
    if isinstance(value, Raised) and value.kind == "unusable":
        return NO_EVIDENCE
    if isinstance(expected, dict) and isinstance(value, dict):
        return {key: reformat(value.get(key), item, notes) for key, item in expected.items()}
    found = _as_asked(value, expected)
    if found is None:
        return value
    if found is not value:
        wanted = "the number alone" if isinstance(expected, float) else kind_of(expected).split(" of shape")[0]
        only = "only the output, " if isinstance(value, tuple) and is_array(expected) else ""
        notes.append(f"It returns {kind_of(value)}; return {only}{wanted}.")
    if isinstance(expected, list | tuple):
        return type(expected)(reformat(v, e, notes) for v, e in zip(found, expected, strict=True))
    return found


def _as_asked(value: Any, expected: Any) -> Any:
    """Return `value` in the container and dtype of `expected`; None if it cannot be converted."""
    if is_array(expected):
        return _as_array(value, expected)
    if isinstance(expected, list | tuple):
        return _as_sequence(value, expected)
    if isinstance(expected, float) and isinstance(value, tuple):
        floats = [item for item in value if isinstance(item, float)]
        return floats[0] if len(floats) == 1 else None
    return None


def _as_sequence(value: Any, expected: list[Any] | tuple[Any, ...]) -> Any:
    numbers = is_array(value) and value.ndim == 1 and all(isinstance(item, float) for item in expected)
    found = value.tolist() if numbers else value
    if not isinstance(found, list | tuple) or len(found) != len(expected):
        return None
    return found if type(found) is type(expected) else type(expected)(found)


def _as_array(value: Any, expected: Any) -> Any:
    if isinstance(value, tuple):
        fitting = [item for item in value if is_array(item) and item.shape == expected.shape]
        return _as_array(fitting[0], expected) if fitting else None
    try:
        if is_tensor(expected):
            import torch  # not at the top: a course of numpy goes without

            found = value if is_tensor(value) else torch.as_tensor(value)
            return found if found.dtype == expected.dtype else found.to(expected.dtype)
        found = value.detach().numpy() if is_tensor(value) else numpy.asarray(value)
        if found.dtype.kind not in "biufc":
            return None  # numpy makes an array of anything, of None too
        return found if found is value and found.dtype == expected.dtype else found.astype(expected.dtype)
    except (TypeError, ValueError, RuntimeError):
        return None
