"""Decide whether the functions of a source keep no state: then calls may be made in any order, and repeated.

Anything that is not seen at once to be stateless counts as stateful. Objects may keep state: each has one caller.
Random numbers are no state here: the generators start anew with each check.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from functools import lru_cache

from grader.source.parse import nodes_in
from grader.source.scopes import Definition, Import, names_bound_by, root_name
from grader.source.what_runs import parse_what_runs

_OUTPUT = re.compile(r"print|warn", re.IGNORECASE)  # parts of names
_CACHES = frozenset({"cache", "lru_cache"})  # as they are imported: what a model keeps may be called so, too
_DECORATORS = frozenset({"staticmethod", "property", "no_grad", "enable_grad", "inference_mode", "torch"})
_NUMBERS = frozenset({"float", "int"})  # of them a call makes nothing that could be changed
_CONSTANT = (ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.UnaryOp, ast.BinOp)
_TYPE = (*_CONSTANT, ast.Subscript, ast.List, ast.Starred)  # of an annotation, which is run where it stands


def is_pure(sources: Collection[str]) -> bool:
    """Return True if no source keeps state between calls; all of them are known to have no side effects."""
    return all(map(_is_pure, sources))


@lru_cache(maxsize=64)
def _is_pure(source: str) -> bool:
    try:
        _, body = parse_what_runs(source)
    except SyntaxError:
        return False
    nodes = nodes_in(*body)
    return all(map(_is_constant_statement, body)) and all(map(_is_stateless, nodes)) and not _binds_known_names(nodes)


def _binds_known_names(nodes: Collection[ast.AST]) -> bool:
    """Return True if a source gives another meaning to what is known here by its name alone."""
    imports = [node for node in nodes if isinstance(node, Import)]
    of_torch = {alias for node in imports for alias in node.names if _is_of_torch(node, alias)}
    return any(names_bound_by(node) & (_DECORATORS | _NUMBERS) for node in nodes if node not in of_torch)


def _is_of_torch(node: Import, alias: ast.alias) -> bool:
    module = alias.name if isinstance(node, ast.Import) else node.module or ""
    return module.partition(".")[0] == "torch" and alias.asname in (None, alias.name)


def _is_stateless(node: ast.AST) -> bool:
    annotations = (getattr(node, field, None) for field in ("annotation", "returns"))
    if not all(isinstance(part, _TYPE) for note in annotations if note for part in nodes_in(note)):
        return False
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        given = (*node.args.defaults, *filter(None, node.args.kw_defaults))
        decorators = nodes_in(*getattr(node, "decorator_list", ()))
        named = {getattr(part, "id", getattr(part, "attr", "torch")) for part in decorators}
        return all(map(_is_constant, given)) and named <= _DECORATORS
    if isinstance(node, ast.ClassDef):
        return not node.decorator_list and all(map(_is_constant_statement, node.body))
    if isinstance(node, ast.alias) and node.name in _CACHES:
        return False
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and root_name(node) != "self":
        return False  # it may be a function's, or another object's that has more than one caller
    names = (getattr(node, field, None) for field in ("id", "attr", "name"))
    return not isinstance(node, ast.Global | ast.Nonlocal) and not any(name and _OUTPUT.search(name) for name in names)


def _is_constant_statement(statement: ast.stmt) -> bool:
    """Return True if a statement of a module or class creates nothing that could be changed later."""
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return statement.value is None or _is_constant(statement.value)
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, Definition | Import | ast.Pass)


def _is_constant(value: ast.expr) -> bool:
    """Return True for a number, a text, a tuple of them, or a name for something that exists already."""
    return all(isinstance(part, _CONSTANT) or _is_number(part) for part in nodes_in(value))


def _is_number(part: ast.AST) -> bool:
    return isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in _NUMBERS
