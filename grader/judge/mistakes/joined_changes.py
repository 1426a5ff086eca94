"""What stands in the steps of a reference where several mistakes are made at once.

Two mistakes in one step go together where what one writes there holds what the reference has: the other one's
expression is put in its place. `x + self.w2(hidden)` and `hidden @ weight` for `self.w2(hidden)` make
`x + hidden @ weight`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cache


def join_changes(changes: Sequence[Mapping[str, str]], steps: Mapping[str, str]) -> dict[str, str] | None:
    """Return what stands in each step that one of these changes; None if two cannot be made there at once.

    Args:
        changes: Those of each mistake. Where two hold what the reference has, the later one is put around the other.
        steps: What the reference has in each step.
    """
    joined: dict[str, str] = {}
    for each in changes:
        for step, text in each.items():
            both = _join(joined[step], text, steps[step]) if step in joined else text
            if both is None:
                return None
            joined[step] = both
    return joined


def _join(first: str, second: str, whole: str) -> str | None:
    return _put(second, whole, first) or _put(first, whole, second)


@cache
def _put(outer: str, whole: str, inner: str) -> str | None:
    """Return a line with one expression in the place of another that it holds; None if it holds none."""
    if whole.replace(" ", "") not in outer.replace(" ", ""):
        return None  # most lines, and to read one takes longer
    sought, new = _expression(whole), _expression(inner)
    if sought is None or new is None:
        return None
    lines = ast.parse(outer)
    putting = _Putting(ast.dump(sought), new)
    found = ast.unparse(putting.visit(lines))
    return found if putting.is_done else None


class _Putting(ast.NodeTransformer):
    """Puts a node in the place of every one that is like another."""

    def __init__(self, sought: str, new: ast.expr) -> None:
        self.sought, self.new, self.is_done = sought, new, False

    def visit(self, node: ast.AST) -> ast.AST:
        """Exchange a node, or those in it."""
        if isinstance(node, ast.expr) and ast.dump(node) == self.sought:
            self.is_done = True
            return self.new
        return self.generic_visit(node)


@cache
def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
