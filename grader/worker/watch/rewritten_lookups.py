"""Put calls in the places of what Python itself would look up, where no function in its place could see that."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from grader.worker.watch.hiding_words import DICT, HIDING_ATTRIBUTES, METHODS, NAMES_OF_MODULES, OF_PARTS

LOOKUPS = frozenset({"getattr", "setattr", "delattr"})
FIRST = frozenset({"self", "cls"})  # what the first parameter of a method is called
OF_THE_CLASS = frozenset({"__new__", "__init_subclass__", "__class_getitem__", "classmethod", "staticmethod"})
Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = Function | ast.Lambda | ast.ClassDef

# What stands in a source that looks something up: by a function, in a dictionary, by a method that is told its object.
WORDS = ("vars", "locals", "attr", DICT, *OF_PARTS)
DOOR = re.compile(rf"\b(?:{'|'.join(sorted(NAMES_OF_MODULES))})\b")
PARAMETER = re.compile(r"\bdef\s+\w+\s*\(\s*(?:self|cls)\b")
OF_FIRST = re.compile(r"\b(?:self|cls)\b(?!-\w)(?:\s*\.\s*(\w+))?")


def may_look_up(source: str) -> bool:
    """Return False for a source that surely looks nothing up, without parsing it."""
    if not source.isascii():
        source = unicodedata.normalize("NFKC", source)  # as Python reads identifiers
    if any(word in source for word in WORDS) or DOOR.search(source):
        return True
    attributes = OF_FIRST.findall(PARAMETER.sub("", source))  # "" where the object itself stands
    return not HIDING_ATTRIBUTES.isdisjoint(attributes) or "" in attributes


def told_calls(nodes: Iterable[ast.AST]) -> Iterator[ast.Call]:
    """Yield the calls in methods that tell another method its object: `nn.Module.__init__(self)`."""
    for definition in nodes:
        for method in definition.body if isinstance(definition, ast.ClassDef) else ():
            if isinstance(method, Function) and not OF_THE_CLASS & {method.name, *map(_name, method.decorator_list)}:
                yield from _calls_on_first(method)


def _calls_on_first(method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Call]:
    parameters = [*method.args.posonlyargs, *method.args.args]
    first = parameters[0].arg if parameters else ""
    waiting: list[ast.AST] = [*method.body] if first in FIRST else []
    for node in waiting:  # grows while it is read
        match node:
            case ast.Call(func=ast.Attribute(), args=[ast.Name(name), *_]) if name == first:
                yield node
        waiting += [part for part in ast.iter_child_nodes(node) if not isinstance(part, Scope)]


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


class Rewriter:
    """Rewrites a module's tree; it calls itself nowhere, for that may be deep.

    Args:
        hidden: Gives the name under which a module has a function of ours.
    """

    def __init__(self, hidden: Callable[[str], str]) -> None:
        self._hidden = hidden

    def rewrite(self, tree: ast.Module) -> None:
        """Rewrite a tree in its place. In a pattern no call may stand: whoever reads the source refuses it there."""
        nodes = list(ast.walk(tree))
        left = {id(part) for node in nodes if isinstance(node, ast.MatchValue) for part in ast.walk(node)}
        for call in list(told_calls(nodes)):
            call.args[0] = self._call("own", call.args[0], call.args[0])
        for node in reversed(nodes):  # what is in a node before itself
            if id(node) not in left:
                self._rewrite_parts(node)

    def _rewrite_parts(self, node: ast.AST) -> None:
        match node:
            case ast.Call(func=ast.Attribute(attr=name)) if name in OF_PARTS:
                node.args = [self._call("part", each, each) for each in node.args]
                for word in node.keywords:
                    told = word.value if word.arg else ast.Constant("__")  # `**x`, of which nobody knows
                    word.value = self._call("part", word.value, told)
            case ast.Call(func=ast.Name(name) as function, args=[_, ast.Constant(str()), *_]) if name in LOOKUPS:
                function.id = self._hidden(name)  # whoever reads the source has seen the name
        for name, part in ast.iter_fields(node):
            if isinstance(part, list):
                part[:] = map(self._replace, part)
            elif isinstance(part, ast.expr):
                setattr(node, name, self._replace(part))

    def _replace(self, node: Any) -> Any:
        match node:
            case ast.Call(func=ast.Name("vars" | "locals") as function, args=[], keywords=[]):
                here = ast.Call(ast.Name("locals", ast.Load()), [], [])
                ast.copy_location(here, node)
                ast.copy_location(here.func, node)
                return self._call("here", node, function, here)
            case ast.Attribute(of, "__dict__", ast.Load()):
                return self._call("names", node, of)
            case ast.Attribute(of, name, ast.Load()) if name in METHODS:
                return self._call("method", node, of, ast.Constant(name))
            case ast.Attribute(of, name, ast.Load()) if name in NAMES_OF_MODULES or (
                name in HIDING_ATTRIBUTES and _name(of) in FIRST
            ):
                return self._call("door", node, of, ast.Constant(name))
        return node

    def _call(self, function: str, node: ast.expr, *arguments: ast.expr) -> ast.Call:
        made = ast.Call(ast.Name(self._hidden(function), ast.Load()), [*arguments], [])
        for part in (made, made.func, *(each for each in arguments if isinstance(each, ast.Constant))):
            ast.copy_location(part, node)
        return made
