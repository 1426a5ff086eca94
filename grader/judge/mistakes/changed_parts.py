"""Where a version of a source differs from it: the smallest expressions and statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator

Span = tuple[int, int, int, int]  # first line and column, last line and column; columns are in bytes


def find_changed_parts(right: str, wrong: str) -> list[Span]:
    """Return where *wrong* has something else than *right*."""
    return [
        (node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0)
        for node in _differing(ast.parse(right), ast.parse(wrong))
    ]


def _differing(right: ast.AST, wrong: ast.AST) -> Iterator[ast.stmt | ast.expr]:
    """Yield the smallest parts of a tree in which it differs: of an expression, at most one."""
    if isinstance(wrong, ast.Module | ast.ClassDef | ast.FunctionDef) and isinstance(right, type(wrong)):
        yield from _differing_statements(right.body, wrong.body)
        return
    inside = _pairs(right, wrong)
    if inside is None or len(inside) != 1 or not isinstance(inside[0][1], ast.stmt | ast.expr | ast.keyword):
        if isinstance(wrong, ast.stmt | ast.expr):
            yield wrong
        return
    smaller = list(_differing(*inside[0]))
    yield from smaller or ([wrong] if isinstance(wrong, ast.stmt | ast.expr) else [])


def _differing_statements(right: list[ast.stmt], wrong: list[ast.stmt]) -> Iterator[ast.stmt | ast.expr]:
    if len(right) == len(wrong):
        for old, new in zip(right, wrong, strict=True):
            if ast.dump(old) != ast.dump(new):
                yield from _differing(old, new)
        return
    known = {ast.dump(each) for each in right}
    yield from (each for each in wrong if ast.dump(each) not in known)


def _pairs(right: ast.AST, wrong: ast.AST) -> list[tuple[ast.AST, ast.AST]] | None:
    """Return the parts of two nodes that differ; None if the nodes themselves do."""
    if type(right) is not type(wrong):
        return None
    found = []
    for name in wrong._fields:
        old, new = (
            value if isinstance(value := getattr(each, name, None), list) else [value] for each in (right, wrong)
        )
        if len(old) != len(new):
            return None
        for one, other in zip(old, new, strict=True):
            if isinstance(one, ast.AST) and isinstance(other, ast.AST):
                found += [(one, other)] if ast.dump(one) != ast.dump(other) else []
            elif one != other:
                return None
    return found
