"""Which names of each file of a hand-in its others take, by what their code imports."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from unicodedata import normalize

from grader.source.parse import nodes_in, parse
from grader.source.scopes import Import, imported_name, module_names
from grader.submission import without_number

_BY_TEXT = frozenset({"import_module", "__import__", "run_path", "run_module"})  # what they import, a text says
_ALL = "*"
_WORD = re.compile(r"[\w\u0080-\U0010ffff]+")  # with what no letter is, and is in a name: the vowels of Hindi

Place = tuple[str, str]  # of an attribute: the first and the last of the names before it, `a` and `b` for `a.b.c`


def names_taken(codes: Mapping[str, Sequence[str]]) -> dict[str, set[str]]:
    """Return them by path, for *codes* by path: a file's text, or a notebook's cells.

    What has the same name is a copy or another attempt. Where all names are taken, it is what any file lacks.
    """
    modules = {path: without_number(PurePosixPath(path).stem) for path in codes}
    words = {path: set(_WORD.findall(normalize("NFKC", "\n".join(cells)))) for path, cells in codes.items()}
    known = {module: {_ALL} for module in modules.values()}  # with the words in each: no other name is taken of it
    for path, module in modules.items():
        known[module] |= words[path]
    taken: dict[str, set[str]] = {module: set() for module in known}
    for path, cells in codes.items():
        if known.keys().isdisjoint(words[path]):  # most import none of the others
            continue
        for module, names in _taken_by(nodes_in(*(tree for code in cells for tree in _parsed(code)))):
            if module in known and module != modules[path]:
                taken[module] |= names & known[module]
    if any(_ALL in names for names in taken.values()):
        lacking = set[str]().union(*map(_lacking, codes.values()))
        taken = {each: names | lacking & known[each] if _ALL in names else names for each, names in taken.items()}
    return {path: taken[module] for path, module in modules.items()}


def _parsed(code: str) -> Iterator[ast.Module]:
    with suppress(SyntaxError):
        yield parse(code)


def _taken_by(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, set[str]]]:
    """Yield the name of all that may be a module, with what is taken of it: by an import, or behind its own name."""
    yield from (pair for node in nodes for pair in _imported(node))
    attributes = _attributes(nodes)
    for module, place in {pair for node in nodes for pair in _places(node)}:
        yield module, attributes.get(place, set())


def _imported(node: ast.AST) -> Iterator[tuple[str, set[str]]]:
    """Yield the module of an import, with the names that it takes of that."""
    match node:
        case ast.ImportFrom(module, names):
            yield (module or "").rpartition(".")[2], {each.name for each in names}
        case ast.Call(ast.Name(called) | ast.Attribute(attr=called), [ast.Constant(str(text)), *_]) if (
            called in _BY_TEXT
        ):
            yield from ((part, {_ALL}) for part in PurePosixPath(text.removesuffix(".py")).name.split("."))


def _places(node: ast.AST) -> Iterator[tuple[str, Place]]:
    """Yield all that may be a module of an import, each with where its attributes stand."""
    for each in node.names if isinstance(node, Import) else ():
        first, *parts = each.name.split(".")
        if each.asname or isinstance(node, ast.ImportFrom):
            yield [first, *parts][-1], (imported_name(each), imported_name(each))
        else:
            yield from ((part, (first, part)) for part in (first, *parts))


def _attributes(nodes: Sequence[ast.AST]) -> dict[Place, set[str]]:
    """Return the attributes of dotted names by their place."""
    found: dict[Place, set[str]] = defaultdict(set)
    before: dict[int, Place] = {}  # by a node, of the names up to its end
    for node in reversed(nodes):  # each comes after what is in it
        match node:
            case ast.Name(name):
                before[id(node)] = name, name
            case ast.Attribute(value, attr) if id(value) in before:
                found[before[id(value)]].add(attr)
                before[id(node)] = before[id(value)][0], attr
    return found


def _lacking(cells: Sequence[str]) -> set[str]:
    names = [module_names(tree) for code in cells for tree in _parsed(code)]
    return set[str]().union(*(each.read for each in names)).difference(*(each.assigned for each in names))
