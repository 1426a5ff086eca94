"""Whether what a source has under an exercise's names can be called as the exercise is."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from typing import TypeAlias

from grader.source.parse import parse

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def why_not_called(source: str, exercise: str, names: Set[str]) -> str:
    """Return why a source's functions and classes of these names cannot be called as the exercise's; "" if they can."""
    try:
        own = _callables(source)
    except SyntaxError:
        return "the file is no Python that can be read"
    for name, asked in _callables(exercise).items():
        if name in names:
            if name not in own:
                return f"no `def` of `{name}` stands at its top level"
            found = dict(_functions_of(name, own[name]))
            for full_name, function in _functions_of(name, asked):
                if full_name not in found or not _accepts(found[full_name].args, function.args):
                    return f"it cannot be called as `{full_name}({ast.unparse(function.args)})`"
    return ""


def _callables(source: str) -> dict[str, Function | ast.ClassDef]:
    """Return the functions and classes by the names that they have at the top level. Raises SyntaxError."""
    found: dict[str, Function | ast.ClassDef] = {}
    for node in parse(source).body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found[node.name] = node
            case ast.Assign(targets=targets, value=ast.Lambda() as value):
                found |= {target.id: value for target in targets if isinstance(target, ast.Name)}
            case ast.Assign(targets=targets, value=ast.Name(other)) if other in found:
                found |= {target.id: found[other] for target in targets if isinstance(target, ast.Name)}
    return found


def _functions_of(name: str, node: Function | ast.ClassDef) -> Iterator[tuple[str, Function]]:
    """Yield a function, or the methods of a class, with the name by which it is known."""
    if not isinstance(node, ast.ClassDef):
        yield name, node
        return
    for each in node.body:
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{name}.{each.name}", each


def _accepts(own: ast.arguments, asked: ast.arguments) -> bool:
    """Return whether parameters take what the exercise's take: the required ones by place, the optional ones by name.

    There may be more optional ones.
    """
    places, wanted = [*own.posonlyargs, *own.args], [*asked.posonlyargs, *asked.args]
    required = len(wanted) - len(asked.defaults)
    by_name = {one.arg for one in (*wanted[required:], *asked.kwonlyargs)}
    known = {one.arg for one in (*places[required:], *own.kwonlyargs)}
    lacking = {one.arg for one, default in zip(own.kwonlyargs, own.kw_defaults, strict=True) if default is None}
    has_places = len(places) - len(own.defaults) <= len(wanted) and (len(places) >= required or own.vararg is not None)
    return has_places and (by_name <= known or own.kwarg is not None) and lacking <= by_name
