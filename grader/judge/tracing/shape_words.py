"""Say what each line of a traced call made: name, shape, dtype, how it stands to the reference; or what it raised."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from grader.judge.tracing.shapes import TracedCall, TracedValue
from grader.judge.tracing.trace import describe_number
from grader.source.parse import nodes_in, parse


class ShapeNote(NamedTuple):
    """What stands together beside a line; `standing` is right, wrong (right has ended before), unknown or raised."""

    standing: str
    says: Sequence[str]


class LineNotes(NamedTuple):
    """What stands beside a line."""

    line: int
    notes: Sequence[ShapeNote]


def describe_ending(call: TracedCall) -> str:
    """Say how the call ended."""
    ending = "the answer is right" if call.is_right else "the answer is wrong" if call.has_returned else "it raises"
    what = f"{call.raised.type}: {call.raised.text}".rstrip(": ") if call.raised else ""
    return f"{call.function}: on this call {ending} {what}".rstrip()


def describe_absence(call: TracedCall, source: str) -> str:
    """Say why none of a call's lines is told."""
    if not call.has_returned and not call.lines:
        return "Nothing was made before that."
    if any(isinstance(node, ast.FunctionDef) and node.name == call.function for node in nodes_in(parse(source))):
        return "Its lines cannot be told: they make no array and no number, or too much happens in them."
    return "It has no `def` whose lines could be watched. Write it as one, a line for each step."


def describe_letters(call: TracedCall) -> str:
    return ", ".join(f"{letter} = {size}" for letter, size in call.letters.items())


def describe_line(call: TracedCall, line: int) -> list[ShapeNote]:
    """Return what stands beside a line: a name and a shape each, numbers together; last, what it raised."""
    found: dict[tuple[str, int], list[str]] = {}
    for number, value in enumerate(each for each in call.values if each.line == line):
        standing = "right" if value.is_right else "unknown"
        is_behind = call.wrong_from and value.line >= call.wrong_from and not value.is_right
        if value.is_wrong_answer or is_behind:
            standing = "wrong"
        key = number if isinstance(value.value, tuple) else -1
        found.setdefault((standing, key), []).append(f"{value.name} {_describe_value(value, call.letters)}")
    notes = [ShapeNote(standing, says) for (standing, _), says in found.items()]
    if call.raised and line in call.raised.lines:
        notes.append(ShapeNote("raised", [f"raises {call.raised.type}"]))
    return notes


def describe_lines(calls: Sequence[TracedCall], source: str) -> list[LineNotes]:
    """Return what stands beside the lines of a whole source: of a function that has a call of its own, what that made.

    Raises:
        SyntaxError, RecursionError: The source is no Python.
    """
    own = {call.function for call in calls}
    spans = {
        node.name: range(node.lineno, (node.end_lineno or 0) + 1)
        for node in nodes_in(parse(source))
        if isinstance(node, ast.FunctionDef) and node.name in own
    }
    found: dict[int, list[ShapeNote]] = {}
    for call in calls:
        elsewhere = [span for name, span in spans.items() if name != call.function]
        for line in call.lines:
            if not any(line in span for span in elsewhere):
                found.setdefault(line, []).extend(describe_line(call, line))
    return [LineNotes(line, found[line]) for line in sorted(found)]


def _describe_value(value: TracedValue, letters: Mapping[str, int]) -> str:
    by_size = {size: letter for letter, size in letters.items()}
    which = f", pass {value.which_pass}" if value.which_pass else ""
    if not isinstance(value.value, tuple):
        return f"= {describe_number(value.value)}{which}"
    dtype = "" if value.dtype == "float32" else f" {value.dtype}"
    named = [by_size.get(size, str(size)) for size in value.value]
    shape = _tuple(map(str, value.value))
    return shape + (f" = {_tuple(named)}" if any(map(str.isidentifier, named)) else "") + dtype + which


def _tuple(sizes: Iterable[str]) -> str:
    found = list(sizes)
    return f"({found[0]},)" if len(found) == 1 else f"({', '.join(found)})"
