"""Expressions in which names stand for anything: does another expression fit, and what is it with those put in.

`torch.relu(x)` and `x.relu()` are one call, and so are `x.sum(dim=-1)` and `x.sum(-1)`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, MutableMapping
from typing import NamedTuple

ANY = "any_"  # begins the name of a part that two expressions have in common
OPENED = (ast.Call, ast.BinOp, ast.Subscript, ast.Compare)
_PASSED_OVER = frozenset({"ctx", "kind"})

Bound = MutableMapping[str, ast.expr]


class Pattern(NamedTuple):
    """An expression or a statement, the names in it that mean themselves, and those of them that are modules.

    Any other name stands for an expression, `self.NAME` for another attribute of `self`.
    """

    part: ast.expr | ast.stmt
    fixed: frozenset[str]
    modules: frozenset[str]

    @property
    def fits_all(self) -> bool:
        """Return True if it is a name that stands for any expression."""
        return isinstance(self.part, ast.Name) and self.part.id not in self.fixed

    def match(self, node: ast.expr | ast.stmt) -> Bound | None:
        """Return what its names stand for in another one; None if that does not fit."""
        bound: Bound = {}
        return bound if self._fits(self.part, node, bound) else None

    def _fits(self, wanted: ast.AST, node: ast.AST, bound: Bound) -> bool:
        match wanted, node:
            case ast.Name(id=name), ast.expr() if name not in self.fixed:
                return is_same(bound.setdefault(name, node), node)
            case ast.Call(), ast.Call():
                return self._fits_call(wanted, node, bound)
            case ast.Attribute(value=ast.Name("self")), ast.Attribute(value=ast.Name("self")):
                return is_same(bound.setdefault(f"self.{wanted.attr}", node), node)
            case ast.BinOp(op=ast.Add() | ast.Mult()), ast.BinOp() if type(wanted.op) is type(node.op):
                pairs = (node.left, node.right), (node.right, node.left)
                return any(self._fit_all([wanted.left, wanted.right], [*pair], bound) for pair in pairs)
        if type(wanted) is not type(node):
            return False
        return all(
            self._fit_all(listed(getattr(wanted, name)), listed(getattr(node, name)), bound)
            for name in wanted._fields
            if name not in _PASSED_OVER
        )

    def _fits_call(self, wanted: ast.Call, node: ast.Call, bound: Bound) -> bool:
        (name, given), (other, mine) = self._read_call(wanted), self._read_call(node)
        return name == other and self._fit_all(given, mine, bound)

    def _read_call(self, call: ast.Call) -> tuple[str, list[object]]:
        """Return the name that is called, and what it is given: first what it is a method of."""
        func = call.func
        given: list[object] = [*call.args, *(each.value for each in call.keywords)]
        match func:
            case ast.Attribute(value=value, attr=name):
                return name, given if self._is_module(value) else [value, *given]
            case ast.Name(id=name):
                return name, given
        return "", [func, *given]

    def _is_module(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.modules

    def _fit_all(self, wanted: list[object], nodes: list[object], bound: Bound) -> bool:
        """Return True if these fit one by one; what they stand for is kept only then."""
        found = dict(bound)
        if len(wanted) != len(nodes):
            return False
        for one, other in zip(wanted, nodes, strict=True):
            is_fit = (
                self._fits(one, other, found)
                if isinstance(one, ast.AST) and isinstance(other, ast.AST)
                else _is_same_constant(one, other)
            )
            if not is_fit:
                return False
        bound.update(found)
        return True


def fill(part: ast.expr | ast.stmt, bound: Bound) -> ast.AST:
    """Return an expression or a statement with what its names stand for."""
    filled: ast.AST = _Fill(bound).visit(copy.deepcopy(part))
    return filled


class _Fill(ast.NodeTransformer):
    def __init__(self, bound: Bound) -> None:
        self._bound = bound

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._bound.get(node.id, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        is_own = isinstance(node.value, ast.Name) and node.value.id == "self"
        return self._bound.get(f"self.{node.attr}", node) if is_own else self.generic_visit(node)


def with_common_parts_open(right: ast.expr, wrong: ast.expr) -> tuple[ast.expr, ast.expr]:
    """Return two expressions with a name in place of each part that both have, but for names and numbers."""
    inside = [{ast.dump(node) for node in ast.walk(each) if node is not each} for each in (right, wrong)]
    opened = _Open({text: f"{ANY}{number}" for number, text in enumerate(sorted(set.intersection(*inside)))})
    first, second = copy.deepcopy(right), copy.deepcopy(wrong)
    opened.generic_visit(first)  # what is inside, in its place
    opened.generic_visit(second)
    return first, second


class _Open(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit(self, node: ast.AST) -> ast.AST:
        name = self._names.get(ast.dump(node)) if isinstance(node, OPENED) else None
        return ast.Name(name, ast.Load()) if name else self.generic_visit(node)


def is_same(one: object, other: object) -> bool:
    """Return True if two trees say the same; the first difference ends it."""
    if not (isinstance(one, ast.AST) and isinstance(other, ast.AST)):
        return _is_same_constant(one, other)
    if one is other:
        return True
    names = [name for name in one._fields if name not in _PASSED_OVER]
    return type(one) is type(other) and all(_are_same(getattr(one, name), getattr(other, name)) for name in names)


def _are_same(one: object, other: object) -> bool:
    first, second = listed(one), listed(other)
    return len(first) == len(second) and all(map(is_same, first, second))


def _is_same_constant(one: object, other: object) -> bool:
    """Return True for equal numbers, names or texts: 1 and 1.0 are equal, and True is no number."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def listed(value: object) -> list[object]:
    """Return the values of a field of a node, of which most have one."""
    return value if isinstance(value, list) else [value]
