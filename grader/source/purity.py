"""Whether the calls of a source's functions know nothing of each other: then they may be made in any order, and twice.

Read from the source, by the judge, and on the safe side: what is not seen at once to be free of memory counts as having
one. Objects may remember what they like, for each is used by one caller only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from functools import lru_cache

from grader.source.parse import nodes_in, parse
from grader.source.side_effects import is_main_guard

# In names: what is printed is shown with the check that called; the next random number is another; a cache is a memory.
_TELLS = re.compile(
    r"print|warn|rand|dropout|bernoulli|multinomial|shuffle|sample|normal_|uniform_|cache", re.IGNORECASE
)
_DECORATORS = frozenset({"staticmethod", "property", "no_grad", "enable_grad", "inference_mode", "torch"})
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def is_pure(sources: Collection[str]) -> bool:
    """Whether all of these sources are; they are tame already (tame.py)."""
    return all(map(_is_pure, sources))


@lru_cache(maxsize=64)
def _is_pure(source: str) -> bool:
    try:
        tree = parse(source)
    except SyntaxError:
        return False
    body = [statement for statement in tree.body if not is_main_guard(statement)]
    return all(map(_is_fixed, body)) and all(_remembers_nothing(node) for node in nodes_in(*body))


def _remembers_nothing(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        given = (*node.args.defaults, *filter(None, node.args.kw_defaults))
        decorators = nodes_in(*getattr(node, "decorator_list", ()))
        named = {getattr(part, "id", getattr(part, "attr", "torch")) for part in decorators}
        return all(map(_is_constant, given)) and named <= _DECORATORS
    if isinstance(node, ast.ClassDef):
        return not node.decorator_list and all(map(_is_fixed, node.body))
    names = (getattr(node, field, None) for field in ("id", "attr", "name"))
    return not isinstance(node, ast.Global | ast.Nonlocal) and not any(name and _TELLS.search(name) for name in names)


def _is_fixed(statement: ast.stmt) -> bool:
    """Whether a statement at the top, or in a class, makes nothing that could be changed later."""
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return statement.value is None or _is_constant(statement.value)
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, (*_DEFINITIONS, ast.Import, ast.ImportFrom, ast.Pass))


def _is_constant(value: ast.expr) -> bool:
    """Whether a value is a number, a text, a tuple of them, or a name for something that was there before."""
    return all(isinstance(part, _CONSTANT) or _is_number(part) for part in nodes_in(value))


_CONSTANT = (ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.UnaryOp, ast.BinOp)


def _is_number(part: ast.AST) -> bool:
    return isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in ("float", "int")
