"""Convert observations to the form that was asked for: lists, numpy arrays, tuples, other dtypes."""

from __future__ import annotations

import re
from typing import Any

from grader.judge.diagnosis.mistake_outputs import NO_EVIDENCE
from grader.judge.values.compare import Raised, is_array, kind_of
from grader.judge.values.mend import as_asked


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
    found = as_asked(value, expected)
    if found is None and isinstance(expected, dict) and isinstance(value, list | tuple):
        notes.append(f"It returns {kind_of(value)}; return {_describe(expected)}.")
        return reformat(dict(zip(expected, value, strict=True)), expected, []) if len(value) == len(expected) else value
    if found is None:
        return value
    if found is not value:
        only = "only the output, " if isinstance(value, tuple) and is_array(expected) else ""
        notes.append(f"It returns {kind_of(value)}; return {only}{_describe(expected)}.")
    if isinstance(expected, dict):
        return reformat(found, expected, notes)
    if isinstance(expected, list | tuple):
        return type(expected)(reformat(v, e, notes) for v, e in zip(found, expected, strict=True))
    return found


def _describe(expected: Any) -> str:
    if isinstance(expected, dict):
        return f"a dict with the keys {', '.join(map(str, expected))}"
    return "the number alone" if isinstance(expected, float) else re.sub(r" of shape \([^)]*\)", "", kind_of(expected))
