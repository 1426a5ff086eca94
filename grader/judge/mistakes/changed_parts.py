"""Where a version of a source differs from it: the smallest expressions and statements."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

Span = tuple[int, int, int, int]


class Part(NamedTuple):
    """What stands where a source was changed, and what stood there, if that is one thing."""

    node: ast.stmt | ast.expr
    old: ast.AST | None

    @property
    def is_alike(self) -> bool:
        """Return True if it is of the kind of what stood there, or cut out of it."""
        return type(self.old) is type(self.node) or isinstance(self.node, ast.Subscript)

    @property
    def span(self) -> Span:
        """First line and column, last line and column; columns are in bytes."""
        return _span_of(self.node)


def covers(outer: Span, inner: Span) -> bool:
    """Return True if one part of a source holds all of another."""
    return outer[:2] <= inner[:2] and outer[2:] >= inner[2:]


def find_changed_statements(wrong: ast.Module, parts: Sequence[Part]) -> list[ast.stmt]:
    """Return the statements of a changed source that are in one line of their own and have a changed part in them."""
    simple = (node for node in ast.walk(wrong) if isinstance(node, ast.stmt) and not hasattr(node, "body"))
    return [node for node in simple if any(covers(_span_of(node), part.span) for part in parts)]


def find_following(wrong: ast.Module, parts: Sequence[Part]) -> list[tuple[ast.AST | None, ast.stmt]]:
    """Return what is missing where a changed source has `pass` in the place of a statement, and what comes next."""
    missing = {part.span: part.old for part in parts if isinstance(part.node, ast.Pass)}
    bodies = (getattr(node, "body", None) for node in ast.walk(wrong))
    pairs = (pair for body in bodies if isinstance(body, list) for pair in itertools.pairwise(body))
    spans = ((_span_of(each), after) for each, after in pairs if isinstance(each, ast.Pass))
    return [(missing[span], after) for span, after in spans if span in missing]


def constructor_of(node: ast.ClassDef) -> list[ast.stmt]:
    """Return the statements of a class's constructor."""
    functions = (each for each in node.body if isinstance(each, ast.FunctionDef))
    return next((each.body for each in functions if each.name == "__init__"), [])


def attributes_of(statement: ast.stmt) -> set[str]:
    """Return the attributes of `self` that a statement assigns."""
    found = (each for each in ast.walk(statement) if isinstance(each, ast.Attribute))
    return {each.attr for each in found if isinstance(each.ctx, ast.Store) and ast.unparse(each.value) == "self"}


def find_changed_parts(right: str, wrong: str) -> list[Part]:
    """Return where *wrong* has something else than *right*."""
    return [Part(new, old) for old, new in _differing(ast.parse(right), ast.parse(wrong))]


def _span_of(node: ast.stmt | ast.expr) -> Span:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0


Differing = Iterator[tuple[ast.AST | None, ast.stmt | ast.expr]]


def _differing(right: ast.AST, wrong: ast.AST) -> Differing:
    """Yield the smallest parts in which a tree differs, after what stood there: of an expression, at most one."""
    if isinstance(wrong, ast.Module | ast.ClassDef | ast.FunctionDef) and isinstance(right, type(wrong)):
        yield from _differing_statements(right.body, wrong.body)
        return
    inside = _pairs(right, wrong)
    smaller = []
    if inside is not None and len(inside) == 1 and isinstance(inside[0][1], ast.stmt | ast.expr | ast.keyword):
        smaller = list(_differing(*inside[0]))
    if not smaller and isinstance(wrong, ast.stmt | ast.expr):
        smaller = [(right, wrong)]
    yield from smaller


def _differing_statements(right: list[ast.stmt], wrong: list[ast.stmt]) -> Differing:
    if len(right) == len(wrong):
        for old, new in zip(right, wrong, strict=True):
            if ast.dump(old) != ast.dump(new):
                yield from _differing(old, new)
        return
    texts = [[ast.dump(each) for each in statements] for statements in (right, wrong)]
    for how, _, _, first, end in SequenceMatcher(None, texts[0], texts[1], autojunk=False).get_opcodes():
        yield from ((None, each) for each in wrong[first:end] if how != "equal")


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
