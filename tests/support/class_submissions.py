"""Make classes of any size from the reference solutions, and from right and wrong answers as learners write them.

    python tests/support/class_submissions.py FOLDER 200 [SEED]

Each learner hands in a folder with a file for every lesson: the reference, another right answer or a known mistake,
with other local names. The same seed makes the same class. `disguise` does what a careful plagiarist does.
"""

from __future__ import annotations

import ast
import builtins
import random
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ANSWERS = ROOT / "tests" / "content" / "answers"
LESSONS = tuple(sorted(path.stem for path in (ROOT / "exercises" / "core").glob("*.py")))  # what a class hands in
KINDS = {"reference": 2, "right": 3, "wrong": 4}  # how often each is handed in
SYLLABLES = ("ba", "co", "del", "fi", "gam", "hu", "jo", "kir", "lo", "mun", "ne", "pra", "ro", "sti", "tu", "ve")
REMARKS = ("now the next step", "this is what the lesson asks for", "careful with the shapes here", "as in the formula")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def make_class(folder: Path, count: int, seed: int = 1) -> list[Path]:
    """Write the hand-ins of *count* learners below *folder*, and return their folders."""
    made = []
    for number in range(count):
        rng = random.Random(f"{seed}/{number}")
        learner = folder / f"learner-{number:05d}"
        learner.mkdir(parents=True)
        for lesson in LESSONS:
            kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
            (learner / f"{lesson}.py").write_text(
                rename_locals(rng.choice(sources(lesson, kind)), rng), encoding="utf-8"
            )
        made.append(learner)
    return made


@cache
def sources(lesson: str, kind: str) -> tuple[str, ...]:
    """Return the sources to choose from, without the first line of an answer, which says what it is."""
    if kind == "reference":
        return ((ROOT / "solutions" / "core" / f"{lesson}.py").read_text(encoding="utf-8"),)
    found = sorted((ANSWERS / lesson).glob(f"{kind}_*.py"))
    return tuple(path.read_text(encoding="utf-8").split("\n", 1)[1] for path in found)


def rename_locals(source: str, rng: random.Random) -> str:
    """Return the same program with other local names, without comments and layout."""
    tree = ast.parse(source)
    locals_ = _assigned_names(tree) - _fixed_names(tree)
    return ast.unparse(_Renamer(_make_names(locals_, rng)).visit(tree)) + "\n"


def disguise(source: str, rng: random.Random, prescribed: Iterable[str]) -> str:
    """Return a copy that looks different: new names, order of definitions and lines, layout and comments.

    The *prescribed* names stay.
    """
    tree = ast.parse(source)
    own = {node.name for node in ast.walk(tree) if isinstance(node, Function | ast.ClassDef)} - _inherited_methods(tree)
    own |= (
        _assigned_names(tree)
        | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        | _own_attributes(tree)
    )
    keywords = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg}
    fixed = {*prescribed, *keywords, *_imported_names(tree), *dir(builtins), "self"}
    kept = {name for name in own if name in fixed or name.startswith("__")}
    tree = _Renamer(_make_names(own - kept, rng), attributes=True).visit(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef):
            node.body = _shuffle_functions(node.body, rng)
        elif isinstance(node, Function):
            node.body = _swap_assignments(node.body, rng)
    return _add_comments(ast.unparse(tree), rng)


class _Renamer(ast.NodeTransformer):
    """Replaces names, and with `attributes` those of attributes of `self`."""

    def __init__(self, names: dict[str, str], *, attributes: bool = False) -> None:
        self.names, self.attributes = names, attributes

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self.names.get(node.arg, node.arg)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self.names.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self.names.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if self.attributes and isinstance(node.value, ast.Name) and node.value.id == "self":
            node.attr = self.names.get(node.attr, node.attr)
        return self.generic_visit(node)


def _assigned_names(tree: ast.Module) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _inherited_methods(tree: ast.Module) -> set[str]:
    """Return the methods of derived classes, such as `forward`, which the base class calls."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.bases]
    return {method.name for node in classes for method in node.body if isinstance(method, Function)}


def _own_attributes(tree: ast.Module) -> set[str]:
    """Return the names of attributes that the author sets on `self`."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)
    }


def _imported_names(tree: ast.Module) -> set[str]:
    found = [alias for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names]
    return {(alias.asname or alias.name).split(".")[0] for alias in found}


def _fixed_names(tree: ast.Module) -> set[str]:
    """Return names that are not local: at the top level, in a class, of parameters, keywords and attributes."""
    found = _imported_names(tree) | set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, Function | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.arg | ast.keyword) and node.arg:
            found.add(node.arg)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found.update(node.names)
        if isinstance(node, ast.Module | ast.ClassDef):
            found |= {name for statement in node.body if not isinstance(statement, Function | ast.ClassDef)
                      for name in _assigned_names(ast.Module([statement], []))}  # fmt: skip
    return found


def _make_names(names: Iterable[str], rng: random.Random) -> dict[str, str]:
    """Return an invented name for each name."""
    chosen: dict[str, str] = {}
    for name in sorted(names):
        new = "_".join("".join(rng.choices(SYLLABLES, k=2)) for _ in range(rng.choice((1, 1, 2))))
        while new in chosen.values() or new in names:
            new += rng.choice(SYLLABLES)
        chosen[name] = new
    return chosen


def _shuffle_functions(body: list[ast.stmt], rng: random.Random) -> list[ast.stmt]:
    """Return a body with its functions in another order."""
    places = [index for index, node in enumerate(body) if isinstance(node, Function) and not node.decorator_list]
    order = rng.sample(places, len(places))
    moved = list(body)
    for place, origin in zip(places, order, strict=True):
        moved[place] = body[origin]
    return moved


def _swap_assignments(body: list[ast.stmt], rng: random.Random) -> list[ast.stmt]:
    """Return a body in which some independent neighbouring assignments are swapped."""
    moved = list(body)
    for index in range(len(moved) - 1):
        first, second = moved[index], moved[index + 1]
        if isinstance(first, ast.Assign) and isinstance(second, ast.Assign) and rng.random() < 0.7:
            written, read = _find_uses(first), _find_uses(second)
            if not written[0] & (read[0] | read[1]) and not read[0] & written[1]:
                moved[index : index + 2] = [second, first]
    return moved


def _find_uses(node: ast.stmt) -> tuple[set[str], set[str]]:
    """Return what a statement assigns, and all names in it."""
    written = {ast.unparse(target) for target in getattr(node, "targets", ())}
    written |= _assigned_names(ast.Module([node], []))
    return written, {ast.unparse(part) for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)}


def _add_comments(source: str, rng: random.Random) -> str:
    lines = []
    for line in source.splitlines():
        if rng.random() < 0.2 and re.match(r" +\w", line):
            lines.append(f"{line}  # {rng.choice(REMARKS)} {rng.randrange(10)}")
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    make_class(Path(sys.argv[1]), int(sys.argv[2]), *map(int, sys.argv[3:]))
