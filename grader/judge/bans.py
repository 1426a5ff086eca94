"""Forbidden calls in the source text: what the worker cannot talk itself out of.

The worker notices a forbidden call when it runs, under any alias; but it is the learner's own process. Here the same
ban is read from the source, by the judge. Only what an exercise's functions can reach counts: a comparison with torch's
own answer behind `if __name__ == "__main__":`, or in a helper that nothing calls, is good practice and no offence.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True)
class Ban:
    """A forbidden name in reach of a function, and where it stands."""

    name: str
    line: int


def find_ban(source: str, function: str, forbids: Iterable[str]) -> Ban | None:
    """The first forbidden call that `function` (or the module's top level) can reach; None if there is none, or if the
    source cannot be parsed."""
    wanted = {_folded(name): name for name in forbids}
    text = _folded(source)
    if not any(name in text for name in wanted):
        return None  # the common case, without parsing
    module = _parsed(source)
    if module is None:
        return None
    aliases = _aliases(module)
    classes = {node.name for node in module.body if isinstance(node, ast.ClassDef)}
    for node in _reachable(module, function):
        for part in ast.walk(node):
            name = _called_name(part, aliases, classes)
            if name is not None and _folded(name) in wanted:
                return Ban(wanted[_folded(name)], getattr(part, "lineno", 0))
    return None


@lru_cache(maxsize=1)  # asked for each function of one file in turn
def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _folded(name: str) -> str:
    """`log_softmax`, `LogSoftmax` and `_log_softmax` are one name."""
    return name.replace("_", "").lower()


def _aliases(module: ast.Module) -> dict[str, str]:
    """Local names of things imported from torch: `from torch.nn.functional import softmax as s` gives s -> softmax."""
    found = {}
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "torch":
            found.update({alias.asname or alias.name: alias.name for alias in node.names})
    return found


def _called_name(node: ast.AST, aliases: dict[str, str], classes: set[str]) -> str | None:
    """The name of the library that a piece of code uses, if it uses one: a method of the learner's own is none."""
    if isinstance(node, ast.Attribute):
        owner = node.value.func if isinstance(node.value, ast.Call) else node.value
        own = isinstance(owner, ast.Name) and (owner.id in ("self", "cls") or owner.id in classes)
        return None if own else node.attr
    if isinstance(node, ast.Name):
        return aliases.get(node.id)
    is_getattr = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr"
    if is_getattr and isinstance(node, ast.Call) and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
        return str(node.args[1].value)
    return None


def _reachable(module: ast.Module, function: str) -> list[ast.AST]:
    """The definition of `function`, every top-level definition that it mentions (and so on), and what the top level
    itself runs."""
    definitions = {
        node.name: node
        for node in module.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    assigned = {
        target.id: node
        for node in module.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    named: dict[str, ast.AST] = {**assigned, **definitions}
    found: list[ast.AST] = []
    queue, seen = [function], {function}
    while queue:
        node = named.get(queue.pop())
        if node is None:
            continue
        found.append(node)
        mentioned = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} - seen
        seen |= mentioned
        queue += sorted(mentioned)
    return found
