"""The letters that a lesson has for sizes, in shapes of a statement's arguments and in the reference's comments."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from grader.judge.tracing.trace import Step, Trace
from grader.judge.values.compare import is_array
from grader.model import Function

REST = "..."  # any number of leading axes
_SHAPE = re.compile(r"\(([^()]+)\)")
# "q, k: queries and keys, of shape (B, T, D)", which may go on below, deeper
_ARGUMENT = re.compile(r"^ *(\w+(?:, \w+)*):[^:;]*?\bshape\s+\(([^()]+)\)", re.MULTILINE)


def find_letters(function: Function, source: str, trace: Trace) -> dict[str, int]:
    """Return the sizes that have a letter, each size of one letter.

    Args:
        function: Whose statement names the shapes of its arguments.
        source: The reference's, whose comments name the shapes of what its steps give.
        trace: A call of the reference.
    """
    sizes: dict[str, set[int]] = defaultdict(set)
    for names, shape in [*_given(function, trace.steps), *_made(source.splitlines(), trace.steps)]:
        if len(names) == len(shape) or (names[:1] == [REST] and len(names) <= len(shape) + 1):
            for name, size in zip(reversed(names), reversed(shape), strict=False):
                sizes[name].add(size)
    # `d_head/2` is no letter, and a size that may be that is not called by another's
    known = {name: next(iter(found)) for name, found in sizes.items() if len(found) == 1 and name != REST}
    alone = {name for name, size in known.items() if list(known.values()).count(size) == 1}
    return {name: size for name, size in known.items() if name in alone and name.isidentifier()}


def _given(function: Function, steps: Iterable[Step]) -> Iterator[tuple[list[str], Sequence[int]]]:
    """Yield of each argument that is an array its axes by name and by size."""
    stated = {
        name: _names(shape) for names, shape in _ARGUMENT.findall(function.statement) for name in names.split(", ")
    }
    for step in steps:
        is_own = step.place.function.partition(".")[0] == function.name
        if is_own and step.place.kind == "Name" and step.given and is_array(step.value) and step.place.name in stated:
            yield stated[step.place.name], step.value.shape


def _made(lines: Sequence[str], steps: Iterable[Step]) -> Iterator[tuple[list[str], Sequence[int]]]:
    """Yield of what each statement gives its axes by name and by size."""
    for step in steps:
        if not (step.place.names and step.place.parent < 0 and is_array(step.value)):
            continue
        for line in (step.place.statement, step.place.statement - 1):
            comment = lines[line - 1].partition("#")[2] if 0 < line <= len(lines) else ""
            names = _result_shape(comment)
            if len(names) == len(step.value.shape) or names[:1] == [REST]:
                yield names, step.value.shape
                break


def _result_shape(comment: str) -> list[str]:
    """Return the names of the axes of the last shape in a comment; none where it tells no single result."""
    shapes = _SHAPE.findall(comment)
    if not shapes or (len(shapes) > 1 and "->" not in comment):
        return []
    return _names(shapes[-1])


def _names(shape: str) -> list[str]:
    return [name.strip() for name in shape.rstrip(", ").split(",")]
