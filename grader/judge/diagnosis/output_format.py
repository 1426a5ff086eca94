"""Convert observations to the form that was asked for: lists, numpy arrays, tuples, other dtypes."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from grader.judge.diagnosis.mistake_outputs import NO_EVIDENCE, MistakeOutputs, Observations
from grader.judge.values.compare import Raised, is_array, kind_of
from grader.judge.values.mend import as_asked, mend


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


def find_form_besides(outputs: MistakeOutputs, seen: Observations, ids: Collection[str]) -> str:
    """Tell the first fault of form in the observations, where none of these mistakes makes one; nothing if none is."""
    made = [1 << number for number, mistake in enumerate(outputs.mistake_set.mistakes) if mistake.id in ids]
    for number, probe in enumerate(outputs.probes):
        found, expected = seen[probe.name], outputs.reference(probe)
        note = "" if isinstance(found, dict) else describe_form(found, expected)
        if note and not any(describe_form(outputs.answer(number, each), expected) for each in made):
            return note
    return ""


def describe_form(value: Any, expected: Any) -> str:
    """Tell what is wrong with the form of a value, which may be the name of its dtype; nothing if it is as expected."""
    if isinstance(value, str) and isinstance(expected, str):
        dtypes = [re.fullmatch(r"torch\.(\w+)", each) for each in (value, expected)]
        found, asked = (each and each[1] for each in dtypes)
        return f"In {asked} it returns {found}; cast the result back." if found and asked and found != asked else ""
    notes: list[str] = []
    reformat(value, expected, notes)
    faults: set[str] = set()
    mend(value, expected, faults)
    if isinstance(value, dict) and faults and not notes:
        notes.append(f"It returns a dict; return only the output, {_describe(expected)}.")
    elif "axis" in faults:
        notes.append(f"It returns {kind_of(value)}; return {kind_of(expected)}.")
    return next(iter(notes), "")


def _describe(expected: Any) -> str:
    if isinstance(expected, dict):
        return f"a dict with the keys {', '.join(map(str, expected))}"
    return "the number alone" if isinstance(expected, float) else re.sub(r" of shape \([^)]*\)", "", kind_of(expected))
