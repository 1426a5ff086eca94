"""A notebook's module without what takes long at its top level, where it was seen that it does not come to its end."""

from __future__ import annotations

import ast
from collections.abc import Collection

from grader.intake.notebook.join_cells import GUARD
from grader.source.parse import nodes_in, parse
from grader.source.scopes import Definition


def without_runs(module: str) -> str:
    """Return the module of a notebook without its loops, and without what calls its own functions.

    Its lines keep their numbers. What is no notebook's module stays as it is.
    """
    if GUARD not in module:
        return module
    try:
        tree = parse(module)
    except SyntaxError:
        return module
    own = {node.name for node in nodes_in(tree) if isinstance(node, Definition)} - {GUARD}
    lines = module.split("\n")
    for node in tree.body:
        if isinstance(node, ast.With) and _is_guard(node.items[0].context_expr) and _runs(node, own):
            last = node.end_lineno or node.lineno
            lines[node.lineno - 1 : last] = [""] * (last - node.lineno + 1)
    return "\n".join(lines)


def _is_guard(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == GUARD


def _runs(node: ast.With, own: Collection[str]) -> bool:
    """Return True for a loop, and for a call of one's own function or method."""
    parts = nodes_in(*node.body)
    called = {getattr(part.func, "id", getattr(part.func, "attr", "")) for part in parts if isinstance(part, ast.Call)}
    return not called.isdisjoint(own) or any(isinstance(part, ast.For | ast.AsyncFor | ast.While) for part in parts)
