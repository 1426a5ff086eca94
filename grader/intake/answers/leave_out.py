"""A source without some of its definitions."""

from __future__ import annotations

import ast
from collections.abc import Set

from grader.source.parse import parse
from grader.source.scopes import Definition


def leave_out(source: str, names: Set[str]) -> str:
    """Return a source with empty lines in the places of these functions and classes; "" where no code is left."""
    if not names:
        return source
    try:
        body = parse(source).body
    except SyntaxError:
        return source
    left_out = [node for node in body if isinstance(node, Definition) and node.name in names]
    if all(node in left_out or _is_no_code(node) for node in body):
        return ""
    lines = source.split("\n")
    for node in left_out:
        first = min(part.lineno for part in (node, *node.decorator_list))
        last = node.end_lineno or first
        lines[first - 1 : last] = [""] * (1 + last - first)
    return "\n".join(lines)


def _is_no_code(node: ast.stmt) -> bool:
    """Return True for an import, and a text as a docstring is."""
    return isinstance(node, ast.Import | ast.ImportFrom) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )
