"""Find the line that cuts a gradient off: the one without which all is right."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from grader.judge.errors import LearnerError
from grader.model import CheckResult, WrongLine
from grader.source.parse import nodes_in, parse

MODES = ("no_grad", "inference_mode")  # in whose place there is `enable_grad`
MAX_CUTS = 3  # of more, which of them do harm takes too long to try

CheckSource = Callable[[str], Sequence[CheckResult]]


def find_gradient_lines(
    source: str, results: Sequence[CheckResult], functions: Sequence[str], check: CheckSource
) -> Iterator[WrongLine]:
    """Yield for each function that is right but for its gradients the line that cuts them off, if that is certain.

    Args:
        results: Of the checks on that source.
        check: Checks another source in its place.
    """
    check = cache(check)  # several functions may be cut off by the same lines
    for function in functions:
        bad = {result.skill for result in results if result.function == function and not result.passed}
        with suppress(LearnerError, SyntaxError, RecursionError):
            if bad == {"gradients"} and (found := _find_gradient_line(function, source, check)):
                yield found


def _find_gradient_line(function: str, source: str, check: CheckSource) -> WrongLine | None:
    def is_right(other: str) -> bool:
        return all(result.passed for result in check(other) if result.function == function)

    harmful = cuts = find_cuts(source)
    if not 0 < len(cuts) <= MAX_CUTS or not is_right(without(source, cuts)):
        return None
    for cut in cuts:  # a maximum may be detached without harm
        fewer = [each for each in harmful if each is not cut]
        if fewer and is_right(without(source, fewer)):
            harmful = fewer
    line, *others = dict.fromkeys(cut.line for cut in harmful)
    both = f"Lines {line} and {' and '.join(map(str, others))} cut" if others else f"Line {line} cuts"
    cuts_off = f"`{function}`: {both} the gradient off"
    return WrongLine(function, line, 0, f"{cuts_off}: without `{harmful[0].text}` all is right.", f"{cuts_off}.")


class Cut(NamedTuple):
    """A part of one line, from one byte to another, what stands there, and what goes there in its place."""

    line: int
    begin: int
    end: int
    text: str
    instead: str


def find_cuts(source: str) -> list[Cut]:
    """Return what may cut a gradient off, in the order of the lines. Raises SyntaxError, RecursionError."""
    lines = source.split("\n")
    found = (part for node in nodes_in(parse(source)) for part in _parts(node))
    return sorted(Cut(line, begin, end, _text(lines, line, begin, end), new) for line, begin, end, new in found)


def without(source: str, cuts: Collection[Cut]) -> str:
    """Return a source in which nothing of these is left; its lines keep their numbers."""
    lines = source.split("\n")
    for line, begin, end, _, instead in sorted(cuts, reverse=True):
        raw = lines[line - 1].encode()
        lines[line - 1] = (raw[:begin] + instead.encode() + raw[end:]).decode()
    return "\n".join(lines)


def _text(lines: list[str], line: int, begin: int, end: int) -> str:
    return lines[line - 1].encode()[begin:end].decode()


def _parts(node: ast.AST) -> Iterator[tuple[int, int, int, str]]:
    """Yield line, first and last byte of what a node has for a gradient to stop at, and what goes there."""
    line, end = getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0)
    match node:
        case ast.Attribute(attr=name) if name in MODES:
            yield line, end - len(name), end, "enable_grad"
        case (
            ast.Call(func=ast.Attribute(value=of, attr=("detach" | "detach_" | "item")), args=[], keywords=[])
            | ast.Attribute(value=of, attr="data", ctx=ast.Load())
        ) if of.end_lineno == line and not _is_of_torch(of):
            yield line, of.end_col_offset or 0, end, ""


def _is_of_torch(node: ast.expr) -> bool:
    """Return True for `torch` or a part of it, and no tensor: `torch.utils.data`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "torch"
