"""A notebook's module without what takes long at its top level, where it was seen that it does not come to its end."""

from __future__ import annotations

import ast
from collections.abc import Collection

from grader.intake.notebook.join_cells import FILE_GUARD, GUARD, PREAMBLE, Framed
from grader.source.parse import nodes_in, parse
from grader.source.scopes import Definition


def without_runs(module: str, own: str) -> Framed:
    """Return the module of a notebook, and its author's text, without its loops and what calls its own functions.

    Their lines keep their numbers. What is no notebook's module stays as it is.
    """
    if PREAMBLE not in module and FILE_GUARD not in module:
        return Framed(module, own)
    try:
        tree = parse(module)
    except SyntaxError:
        return Framed(module, own)
    functions = {node.name for node in nodes_in(tree) if isinstance(node, Definition)} - {GUARD}
    guarded = [node for node in tree.body if isinstance(node, ast.With) and _is_guard(node.items[0].context_expr)]
    runs = [range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in guarded if _runs(node, functions)]
    return Framed(*(_without_lines(text, {line for lines in runs for line in lines}) for text in (module, own)))


def _without_lines(text: str, left_out: Collection[int]) -> str:
    return "\n".join("" if number in left_out else line for number, line in enumerate(text.split("\n"), 1))


def _is_guard(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == GUARD


def _runs(node: ast.With, own: Collection[str]) -> bool:
    """Return True for a loop, and for a call of one's own function or method."""
    parts = nodes_in(*node.body)
    called = {getattr(part.func, "id", getattr(part.func, "attr", "")) for part in parts if isinstance(part, ast.Call)}
    return not called.isdisjoint(own) or any(isinstance(part, ast.For | ast.AsyncFor | ast.While) for part in parts)
