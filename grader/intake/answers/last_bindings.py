"""What a source gives a name last, as text: by it answers are compared, and told from an exercise still empty."""

from __future__ import annotations

import ast
from collections.abc import Set
from typing import TypeAlias

from grader.source.parse import nodes_in, parse
from grader.source.scopes import Definition, Scope, module_names, names_bound_by, root_name
from grader.submission import RESERVED

Body: TypeAlias = "tuple[str | Body, ...]"

UNREADABLE = (SyntaxError, RecursionError, ValueError)  # a number may have more digits than Python writes out


def last_bindings(source: str, names: Set[str]) -> dict[str, Body]:
    """Return by name the decorators and statements of a definition, or the other statement that has the last word.

    Of a source that cannot be read, all of it is each of them.
    """
    found: dict[str, ast.stmt] = {}
    try:
        for node in parse(source).body:
            found |= dict.fromkeys(_names_given(node, names), node)
        return {name: body_of(node) for name, node in found.items()}
    except UNREADABLE:
        return dict.fromkeys(names, (source,))


def body_of(node: ast.stmt) -> Body:
    """Return a statement as text, without comments; of a definition what is in it, without docstrings and its head."""
    if not isinstance(node, Definition):
        return (ast.unparse(node),)
    decorators = (f"@{ast.unparse(one)}" for one in node.decorator_list)
    statements = node.body[ast.get_docstring(node) is not None :]
    return (*decorators, *(body_of(one) if isinstance(one, Definition) else ast.unparse(one) for one in statements))


def _names_given(node: ast.stmt, names: Set[str]) -> Set[str]:
    """Return the names, of these, that a statement gives a value, or whose object it may change.

    `from mine import *` may give any, and a decorator that gets a class, methods to it.
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
    return bound | names & {_changed_by(part) for part in parts}


def _changed_by(node: ast.AST) -> str:
    """Return the name whose object is given an attribute or an item: `Block.forward = f`; "" for none."""
    match node:
        case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
            return root_name(node)
        case ast.Call(ast.Name("setattr"), [ast.Name(name), *_]):
            return name
    return ""
