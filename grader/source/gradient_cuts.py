"""Find what keeps a gradient from going back in a source, and write the source without it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import NamedTuple

from grader.source.parse import nodes_in, parse

MODES = ("no_grad", "inference_mode")  # in whose place there is `enable_grad`


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
