"""Which names of each file of a hand-in its others take, by what their code imports."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath

from grader.source.parse import nodes_in, parse
from grader.source.scopes import module_names
from grader.submission import without_number

_BY_TEXT = frozenset({"import_module", "__import__", "run_path", "run_module"})  # what they import, a text says
_ALL = "*"
_WORD = re.compile(r"\w+")


def names_taken(codes: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    """Return them by path, for *codes* by path: a file's text, or a notebook's cells.

    What has the same name is a copy or another attempt. Where all names are taken, it is what any file lacks.
    """
    modules = {path: without_number(PurePosixPath(path).stem) for path in codes}
    known = {*modules.values()}
    taken: dict[str, set[str]] = defaultdict(set)
    for path, cells in codes.items():
        if known.isdisjoint(_WORD.findall("\n".join(cells))):  # most import none of the others
            continue
        nodes = nodes_in(*(tree for code in cells for tree in _parsed(code)))
        attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        for found, names in map(_imported, nodes):
            for module in found - {modules[path]}:
                taken[module] |= names | attributes
    if any(_ALL in taken[module] for module in known):
        lacking = set[str]().union(*map(_lacking, codes.values()))
        taken = defaultdict(set, {name: each | lacking if _ALL in each else each for name, each in taken.items()})
    return {path: taken[module] for path, module in modules.items()}


def _parsed(code: str) -> Iterator[ast.Module]:
    with suppress(SyntaxError):
        yield parse(code)


def _imported(node: ast.AST) -> tuple[set[str], set[str]]:
    """Return the names of all that may be the module of an import, and what it takes of that."""
    match node:
        case ast.Import(names):
            return {part for each in names for part in each.name.split(".")}, set()
        case ast.ImportFrom(module, names):
            parts = {each.name for each in names}
            return {*(module or "").split("."), *parts}, parts
        case ast.Call(ast.Name(called) | ast.Attribute(attr=called), [ast.Constant(str(text)), *_]) if (
            called in _BY_TEXT
        ):
            return {*PurePosixPath(text.removesuffix(".py")).name.split(".")}, {_ALL}
    return set(), set()


def _lacking(cells: Sequence[str]) -> set[str]:
    names = [module_names(tree) for code in cells for tree in _parsed(code)]
    return set[str]().union(*(each.read for each in names)).difference(*(each.assigned for each in names))
