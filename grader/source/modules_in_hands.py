"""Ways in which a whole module gets into hands that no reader of the source follows.

Who has torch in a variable of which nothing is known can take any name from it. A module is named plainly, `torch.exp`,
or under one other name, `F = torch.nn.functional`; these are the ways to have it otherwise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TypeGuard

from grader.source.hiding_names import ALL_NAMES, last_name
from grader.source.scopes import Definition, open_case

DATACLASS = "dataclass"


def class_statements(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the statements of classes themselves, not of their methods: what these bind, others can take, `A.lib`."""
    waiting = [part for node in nodes if isinstance(node, ast.ClassDef) for part in node.body]
    for part in waiting:  # grows while it is read
        yield part
        if not isinstance(part, Definition):
            waiting += [each for child in ast.iter_child_nodes(part) for each in open_case(child) if _has_body(each)]


def _has_body(node: ast.AST) -> TypeGuard[ast.stmt]:
    return isinstance(node, ast.stmt | ast.ExceptHandler)


def decorators(definitions: Iterable[Definition]) -> set[int]:
    """Return where the decorators of functions or classes stand, called or not."""
    found = (each for node in definitions for each in node.decorator_list)
    return {id(each.func if isinstance(each, ast.Call) else each) for each in found}


def names_in_other_hands(node: ast.AST, called: set[int], bound: set[str]) -> bool:
    """Return True for `globals` as a value; `vars` may be a variable, where one is *bound*."""
    is_read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in ALL_NAMES
    return is_read and id(node) not in called and not (last_name(node) == "vars" and "vars" in bound)
