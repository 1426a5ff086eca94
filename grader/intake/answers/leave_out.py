"""A source without some of its definitions."""

from __future__ import annotations

from collections.abc import Set

from grader.source.parse import parse
from grader.source.scopes import Definition


def leave_out(source: str, names: Set[str]) -> str:
    """Return a source with empty lines in the places of these functions and classes; "" where no other is left."""
    if not names:
        return source
    try:
        defined = [node for node in parse(source).body if isinstance(node, Definition)]
    except SyntaxError:
        return source
    left_out = [node for node in defined if node.name in names]
    if len(left_out) == len(defined):
        return ""
    lines = source.split("\n")
    for node in left_out:
        first = min(part.lineno for part in (node, *node.decorator_list))
        last = node.end_lineno or first
        lines[first - 1 : last] = [""] * (1 + last - first)
    return "\n".join(lines)
