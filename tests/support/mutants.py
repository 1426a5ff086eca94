"""Small changes of a source text: another operator, number or variable, an argument or a statement less.

A reference so changed is either still right or should fail a check; nobody chose it with the checks in mind.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from functools import singledispatch
from typing import Any

OTHER_OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,), ast.FloorDiv: (ast.Div,),
    ast.Pow: (ast.Mult,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
}  # fmt: skip
ONE_SIDED = ast.Sub | ast.Div | ast.MatMult | ast.Pow
MODULES = ("torch", "F", "nn", "math")


def mutants(source: str) -> Iterator[tuple[str, str]]:
    """Yield what was changed, as `old -> new`, and the changed source; each source once."""
    tree, seen = ast.parse(source), {ast.unparse(ast.parse(source))}
    left_alone = _no_code(tree)
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in left_alone:
            continue
        for changed in _changed(node, _variables_at(tree, node)):
            text = ast.unparse(ast.fix_missing_locations(_with(tree, number, changed)))
            if text not in seen:
                seen.add(text)
                new = "" if isinstance(changed, ast.Pass) else ast.unparse(changed)
                yield f"{_first_line(node)} -> {new}".strip(), text


@singledispatch
def _changed(node: Any, _variables: list[str]) -> list[ast.AST]:
    """Return what may stand in the place of a node."""
    return []


@_changed.register
def _(node: ast.Compare, _variables: list[str]) -> list[ast.AST]:
    return [_copy(node, ops=[other()]) for op in node.ops for other in OTHER_OPERATORS.get(type(op), ())]


@_changed.register
def _(node: ast.BinOp, _variables: list[str]) -> list[ast.AST]:
    others = [_copy(node, op=other()) for other in OTHER_OPERATORS.get(type(node.op), ())]
    exchanged = [_copy(node, left=node.right, right=node.left)] if isinstance(node.op, ONE_SIDED) else []
    return [*others, node.left, node.right, *exchanged]


@_changed.register
def _(node: ast.Constant, _variables: list[str]) -> list[ast.AST]:
    value = node.value
    if isinstance(value, bool):
        return [ast.Constant(not value)]
    if isinstance(value, int):
        return [ast.Constant(other) for other in (value + 1, value - 1, 2 * value + 3)]
    return [ast.Constant(factor * value) for factor in (1.01, 2.0, -1.0)] if isinstance(value, float) else []


@_changed.register
def _(node: ast.UnaryOp, _variables: list[str]) -> list[ast.AST]:
    return [node.operand]


@_changed.register
def _(node: ast.BoolOp, _variables: list[str]) -> list[ast.AST]:
    return list(node.values)


@_changed.register
def _(node: ast.IfExp, _variables: list[str]) -> list[ast.AST]:
    return [node.body, node.orelse]


@_changed.register
def _(node: ast.Slice, _variables: list[str]) -> list[ast.AST]:
    return [_copy(node, **{end: None}) for end in ("lower", "upper", "step") if getattr(node, end)]


@_changed.register
def _(node: ast.Name, variables: list[str]) -> list[ast.AST]:
    is_read = isinstance(node.ctx, ast.Load) and node.id in variables
    return [_copy(node, id=other) for other in variables if is_read and other != node.id]


@_changed.register
def _(node: ast.Call, _variables: list[str]) -> list[ast.AST]:
    words = [_copy(node, keywords=[word for word in node.keywords if word is not left]) for left in node.keywords]
    if len(node.args) > 1:
        words.append(_copy(node, args=[node.args[1], node.args[0], *node.args[2:]]))
        words.append(_copy(node, args=node.args[:-1]))
    match node.func:
        case ast.Attribute(value=value) if not (isinstance(value, ast.Name) and value.id in MODULES):
            return [*words, value]
    return [*words, *node.args[:1]]


for _statement in (ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.For, ast.With, ast.Return):
    _changed.register(_statement, lambda node, _variables: [ast.Pass()])


def _variables_at(tree: ast.Module, node: ast.AST) -> list[str]:
    """Return the local variables and parameters of the innermost function that a node is in."""
    if not isinstance(node, ast.Name):
        return []
    around = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and node in ast.walk(each)]
    if not around:
        return []
    stored = {
        each.id for each in ast.walk(around[-1]) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    return sorted((stored | {each.arg for each in ast.walk(around[-1]) if isinstance(each, ast.arg)}) - {"self"})


def _no_code(tree: ast.Module) -> set[int]:
    """Return the nodes that only say something: texts that stand alone, formatted ones, errors that are raised."""
    told: list[ast.AST] = [each for each in ast.walk(tree) if isinstance(each, ast.JoinedStr | ast.Raise)]
    told += [each for each in ast.walk(tree) if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)]
    return {id(inner) for each in told for inner in ast.walk(each)}


def _copy(node: ast.AST, **fields: object) -> ast.AST:
    made = copy.copy(node)
    vars(made).update(fields)
    return made


def _with(tree: ast.Module, number: int, changed: ast.AST) -> ast.Module:
    """Return a copy of a tree with another node in the place of one, which is counted as `ast.walk` goes."""
    copied = copy.deepcopy(tree)
    old = list(ast.walk(copied))[number]
    for parent in ast.walk(copied):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, changed)
            elif isinstance(value, list):
                value[:] = [changed if each is old else each for each in value]
    return copied


def _first_line(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0]
