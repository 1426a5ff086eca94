"""What a source gives a name last, as text: by it answers are compared, and told from an exercise still empty."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Set
from functools import cache
from typing import TypeAlias

from grader.source.parse import nodes_in, parse
from grader.source.scopes import Definition, Scope, imported_name, module_names, names_bound_by, root_name
from grader.source.what_runs import parse_what_runs
from grader.submission import RESERVED

Body: TypeAlias = "tuple[str | Body, ...]"
Giving: TypeAlias = "dict[str, list[ast.stmt]]"

# what stands in a body that nobody has written yet, and bases that give a class no methods of the lesson's
_NOTHING = re.compile(
    r"pass|\.\.\.|return(?: None| \.\.\.)?|super\([\w, ]*\)\.__init__\(\)|raise NotImplementedError(?:\(.*\))?",
    re.DOTALL,
)
_PLAIN_BASES = {"object", "Module", "nn.Module", "torch.nn.Module"}
UNREADABLE = (SyntaxError, RecursionError, ValueError)  # a number may have more digits than Python writes out


def last_bindings(source: str, names: Set[str]) -> dict[str, Body]:
    """Return by name the decorators and statements of a definition, or the other statement that has the last word.

    Of a source that cannot be read, all of it is each of them.
    """
    found: dict[str, ast.stmt] = {}
    try:
        for node in parse_what_runs(source)[1]:
            found |= dict.fromkeys(_names_given(node, names), node)
        return {name: body_of(node) for name, node in found.items()}
    except UNREADABLE:
        return dict.fromkeys(names, (source,))


def used_by(source: str, names: Set[str]) -> dict[str, int]:
    """Return by name a hash of what gives it its values, and of what that reads of the same source, heads included.

    Of a source that cannot be read, it is that of all of it.
    """
    try:
        giving = _statements_by_name(source)
        texts = cache(lambda node: (*_heads_of(node), *body_of(node)))
        reads = cache(lambda node: module_names(node).read & giving.keys())
        used = {name: _reached(name, giving, reads) for name in sorted(names & giving.keys())}
        return {name: hash(frozenset(map(texts, nodes))) for name, nodes in used.items()}
    except UNREADABLE:
        return dict.fromkeys(names, hash(source))


def seen_by(source: str, words: Set[str]) -> object:
    """Return what importing a source runs, and what it gives to a reader of these words: functions not read count not.

    Of a source that cannot be read, it is all of it.
    """
    try:
        run = [node for node in parse(source).body if not _is_idle(node)]
        read = words | frozenset[str]().union(*(module_names(node).read for node in run))
        return [ast.unparse(node) for node in run], used_by(source, read)
    except UNREADABLE:
        return source


def _is_idle(node: ast.stmt) -> bool:
    """Return whether nothing runs in a statement before it is called: in a function, or in a docstring."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return not node.decorator_list
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _reached(name: str, giving: Giving, reads: Callable[[ast.stmt], Set[str]]) -> set[ast.stmt]:
    """Return the statements that give a name its values, and those that give what they read theirs."""
    found: set[ast.stmt] = set()
    waiting = [name, *({"*"} & giving.keys())]  # what `from mine import *` gives is not seen
    known = set(waiting)
    for each in waiting:  # grows while it is read
        for node in {*giving[each]} - found:
            found.add(node)
            waiting += reads(node) - known
            known |= reads(node)
    return found


def _statements_by_name(source: str) -> Giving:
    """Return for each name of a module the statements that give it a value. Raises SyntaxError, ValueError."""
    assigned = module_names(source).assigned
    giving: Giving = {}
    for node in parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                giving.setdefault(imported_name(alias), []).append(_import_of(node, alias))
        else:
            for name in _names_given(node, assigned):
                giving.setdefault(name, []).append(node)
    return giving


def _import_of(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> ast.stmt:
    return ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [alias], node.level)


def _heads_of(node: ast.stmt) -> list[str]:
    """Return the parameters and bases of what is defined in a statement."""
    parts = nodes_in(node)
    bases = (base for part in parts if isinstance(part, ast.ClassDef) for base in (*part.bases, *part.keywords))
    return [ast.unparse(part) for part in (*(part for part in parts if isinstance(part, ast.arguments)), *bases)]


def body_of(node: ast.stmt) -> Body:
    """Return a statement as text, without comments; of a definition what is in it, without docstrings and its head.

    Of one that is not written yet that is nothing, and of a class its bases are in it that may have the methods.
    """
    if not isinstance(node, Definition):
        return (ast.unparse(node),)
    head = [f"@{ast.unparse(one)}" for one in node.decorator_list]
    if isinstance(node, ast.ClassDef):
        head += [base for base in map(ast.unparse, (*node.bases, *node.keywords)) if base not in _PLAIN_BASES]
    statements = node.body[ast.get_docstring(node) is not None :]
    body = [body_of(one) if isinstance(one, Definition) else ast.unparse(one) for one in statements]
    is_written = head or any(one if isinstance(one, tuple) else not _NOTHING.fullmatch(one) for one in body)
    return (*head, *body) if is_written else ()


def _names_given(node: ast.stmt, names: Set[str]) -> Set[str]:
    """Return the names, of these, that a statement gives a value, or whose object it may change.

    `from mine import *` may give any, and a decorator that gets a class, methods to it. What a name gets that is made
    of itself, `f = cache(f)`, is no other answer.
    """
    if isinstance(node, Definition):
        handed = {part.id for part in nodes_in(*node.decorator_list) if isinstance(part, ast.Name)}
        return names & {node.name, *handed}
    if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
        return frozenset() if (node.module or "").partition(".")[0] in RESERVED else names
    parts = nodes_in(node)
    bound = {name for part in parts for name in names_bound_by(part)} & names
    if bound and any(isinstance(part, Scope) for part in parts):  # else none of them is a function's own
        bound &= module_names(node).bound
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.For):
        bound -= {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
    return bound | names & {_changed_by(part) for part in parts}


def _changed_by(node: ast.AST) -> str:
    """Return the name whose object is given what it runs: `Block.forward = f`, `f.__code__ = c`; "" for none."""
    match node:
        case ast.Attribute(value=ast.Name(name), attr=attr, ctx=ast.Store()):
            return name if name[:1].isupper() or attr[:2] == "__" else ""  # a function's own attributes change nothing
        case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
            return root_name(node)
        case ast.Call(ast.Name("setattr"), [ast.Name(name), *_]):
            return name
    return ""
