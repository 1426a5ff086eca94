"""Ways to give an object of one's own an attribute that Python itself looks for, by a name that nobody reads.

`__match_args__` takes any attribute of any object, the annotations of a dataclass are code, and a module's `__class__`
makes methods of it. Written plainly each is refused; these are the ways to write it otherwise.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from grader.source.hiding_names import ALL_NAMES, last_name, text_of
from grader.source.scopes import Definition

OWN = ("self", "cls")


def makes_attributes(node: ast.AST) -> str:
    """Return what in a node makes a class, or takes attributes by their places, with names that do not stand there."""
    match node:
        case ast.Call(func=ast.Name("type"), args=[_, _, *_]):
            return "type"
        case ast.ClassDef(bases=bases):
            return "type" if any(last_name(base) == "type" for base in bases) else _lists_its_names(node)
        case ast.Attribute(attr="__class__", ctx=ast.Store() | ast.Del()):
            return "__class__"
        case ast.MatchClass(cls=cls, patterns=[_, *_]) if not isinstance(vars(builtins).get(last_name(cls)), type):
            return last_name(cls)
    return ""


def _lists_its_names(definition: ast.ClassDef) -> str:
    """Return `locals` where a class's own statements change its names as a dictionary."""
    calls: list[ast.AST] = []
    waiting: list[ast.AST] = [part for part in definition.body if not isinstance(part, Definition)]
    for node in waiting:  # grows while it is read
        waiting += [part for part in ast.iter_child_nodes(node) if not isinstance(part, Definition | ast.Lambda)]
        calls += [node] if isinstance(node, ast.Call) and not node.args and last_name(node) in ALL_NAMES else []
    return last_name(calls[0]) if calls else ""


def own_objects(nodes: Iterable[ast.AST]) -> set[str]:
    """Return which of `self` and `cls` mean an object of the learner's own classes wherever they stand.

    That is so where each is the first parameter of a method, and no method is taken of its class: `A.find(torch, n)`.
    """
    nodes = list(nodes)
    classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    methods = {
        id(part.args): _first(part.args) for node in nodes if isinstance(node, ast.ClassDef) for part in node.body
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)
        and not any(last_name(each) == "staticmethod" for each in part.decorator_list)
    }  # fmt: skip
    on_self = {id(node.func) for node in nodes if isinstance(node, ast.Call) and _is_of_self(node)}
    if any(id(node) not in on_self and _takes_of_class(node, classes) for node in nodes):
        return set()
    others = {
        arg.arg
        for node in nodes if isinstance(node, ast.arguments)
        for arg in ast.walk(node) if isinstance(arg, ast.arg) and arg.arg != methods.get(id(node))
    }  # fmt: skip
    return set(OWN) - others


def _first(arguments: ast.arguments) -> str:
    return next((arg.arg for arg in (*arguments.posonlyargs, *arguments.args)), "")


def _is_of_self(call: ast.Call) -> bool:
    """Return True for `A.__init__(self, n)`."""
    return bool(call.args) and isinstance(call.args[0], ast.Name) and call.args[0].id in OWN


def _takes_of_class(node: ast.AST, classes: set[str]) -> bool:
    """Return True for `A.find` and `self.__class__.find`: as functions, methods take any object for their own."""
    match node:
        case ast.Attribute(value=ast.Name(name), ctx=ast.Load()):
            return name in classes and node.attr not in ("__name__", "__init__")
        case ast.Attribute(value=ast.Attribute(attr="__class__") | ast.Call(func=ast.Name("type"))):
            return node.attr != "__name__"
        case ast.Subscript(value=value):
            return last_name(value) in ("vars", "__dict__")
    return False


def assembles_a_key(node: ast.AST) -> Iterable[ast.expr]:
    """Yield the keys of a dictionary that may be a class's, which are not written as one text."""
    if isinstance(node, ast.Dict):
        yield from (key for key in node.keys if key is not None and text_of(key) is None)
