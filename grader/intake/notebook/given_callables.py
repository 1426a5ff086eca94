"""Which assignments of a notebook give a name what can be called: `softmax = my_softmax`, a lambda, an object."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence

from grader.source.scopes import Definition, Scope

CALLED = frozenset({"__call__", "forward"})
_LAYER = re.compile(r"(?:^|\.)(?:nn\.[\w.]+|Module|Sequential)$")  # a base of torch's


class GivenCallables:
    """What gives a name to something that can be called, as far as that is seen without running anything.

    A name that is *wanted* may be given more than others: what a function makes, an object with an inherited
    `__call__`, a method, an item of a table.
    """

    def __init__(self, definitions: Sequence[Definition], wanted: Collection[str]) -> None:
        self._wanted = frozenset(wanted)
        self._plain = {node.name for node in definitions}
        self._callable = set(self._plain)
        self._tables: set[str] = set()
        self._methods = {node.name: _methods(node) for node in definitions if isinstance(node, ast.ClassDef)}
        self._plain_makers = {"partial", "functools.partial"}
        self._plain_makers |= {name for name, methods in self._methods.items() if "__call__" in methods}
        self._makers = set(self._plain_makers)
        for node in definitions:
            if isinstance(node, ast.ClassDef) and self._makes_callables(node):
                self._makers.add(node.name)
        for node in definitions:
            if not isinstance(node, ast.ClassDef) and self._returns_callable(node):
                self._makers.add(node.name)

    def defines(self, node: ast.stmt) -> bool:
        """Return True if a statement does so, or chooses between such."""
        try:
            return self._defines(node)
        except RecursionError:  # a thousand times `elif`
            return False

    def _defines(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.If):
            chosen = [part for part in (*node.body, *node.orelse) if not isinstance(part, ast.Pass)]
            return bool(chosen) and all(map(self._defines, chosen))
        given = list(given_values(node))
        self._callable |= {name for name, value in given if self._is_callable(value, name)}
        self._tables |= {name for name, value in given if _items(value) and all(map(self._is_callable, _items(value)))}
        self._methods |= {name: self._methods[_named(value)] for name, value in given if _named(value) in self._methods}
        names = {name for name, _ in given}
        if given and all(self._is_plain(value) for _, value in given):
            self._plain |= names
            return True
        return not self._wanted.isdisjoint(names) and all(self._is_callable(value, name) for name, value in given)

    def _is_plain(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Call):
            return ast.unparse(value.func) in self._plain_makers
        return isinstance(value, ast.Lambda) or (isinstance(value, ast.Name) and value.id in self._plain)

    def _is_callable(self, value: ast.expr, name: str = "") -> bool:
        """Return True for what can be called; a call of the very *name* that it is given to is a trial."""
        match value:
            case ast.Call(ast.Name(maker)):
                return maker in self._makers - {name}
            case ast.Name(known):
                return known in self._callable
            case ast.IfExp(body=body, orelse=orelse):
                return self._is_callable(body, name) and self._is_callable(orelse, name)
            case ast.Attribute(owner, attr):
                return attr in self._methods.get(_named(owner), ())
            case ast.Subscript(ast.Name(table)):
                return table in self._tables
        return self._is_plain(value)

    def _makes_callables(self, node: ast.ClassDef) -> bool:
        """Return True for a class whose objects can be called, by a method of its own or a base's."""
        names = _methods(node).union(name for part in node.body for name, _ in given_values(part))
        bases = [ast.unparse(base.value if isinstance(base, ast.Subscript) else base) for base in node.bases]
        return not names.isdisjoint(CALLED) or any(base in self._makers or _LAYER.search(base) for base in bases)

    def _returns_callable(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        own = list(_own_nodes(node))
        inner = {part.name for part in own if isinstance(part, Definition)}
        inner |= {name for part in own for name, value in given_values(part) if isinstance(value, ast.Lambda)}
        returned = [part.value for part in own if isinstance(part, ast.Return)]
        return bool(returned) and all(
            value is not None and (self._is_callable(value) or (isinstance(value, ast.Name) and value.id in inner))
            for value in returned
        )


def given_values(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield the values that an assignment gives, each with its name, empty where it goes into no name."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        targets, values = (getattr(each, "elts", ()) for each in (target, node.value))
        pairs = zip(targets, values, strict=True) if 0 < len(targets) == len(values) else [(target, node.value)]
        yield from ((one.id if isinstance(one, ast.Name) else "", value) for one, value in pairs)


def _items(value: ast.expr) -> list[ast.expr]:
    """Return what is in a list, a tuple or a dictionary that is written out."""
    return getattr(value, "values" if isinstance(value, ast.Dict) else "elts", [])


def _named(value: ast.expr) -> str:
    """Return the name in `Name` or `Name(...)`."""
    value = value.func if isinstance(value, ast.Call) else value
    return value.id if isinstance(value, ast.Name) else ""


def _methods(node: ast.ClassDef) -> set[str]:
    return {part.name for part in node.body if isinstance(part, ast.FunctionDef)}


def _own_nodes(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body, without what is in an inner scope."""
    waiting: list[ast.AST] = [*function.body]
    for node in waiting:  # grows while it is read
        yield node
        if not isinstance(node, Scope):
            waiting += ast.iter_child_nodes(node)
