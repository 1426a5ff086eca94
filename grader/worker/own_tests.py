"""Which statements of a module's top level run the file's own tests: `doctest.testmod()`, `unittest.main()`.

Only what nobody misses is one of them: no definition, and nothing that binds a name which what stays reads. The source
alone tells it, so that whoever runs a file and whoever reads it leave out the same.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

TEST_RUNNERS = frozenset({"doctest", "unittest"})
IMPORTERS = frozenset({"__import__", "import_module"})
MAX_PASSES = 10  # each finds what is missed by a statement that the one before it kept
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, eq=False)
class Noted:
    """What a statement does with names.

    Attributes:
        loads: The names that it reads, but for a definition's own, and the methods that it calls, as `.run`.
        calls: Those of them by which it may run something.
        bound: The names around it that it binds, but for `tests`.
        tests: The names under which it imports what runs tests.
        runs: It uses what it imports so.
        inner: The definitions in it; those in a function are a part of it.
    """

    node: ast.stmt
    loads: frozenset[str]
    calls: frozenset[str]
    bound: frozenset[str]
    tests: frozenset[str]
    runs: bool
    inner: tuple[Noted, ...]

    @property
    def reads(self) -> frozenset[str]:
        """The names that it reads, or a definition in it."""
        return self.loads.union(*(each.reads for each in self.inner))

    def uses(self, *known: set[str]) -> bool:
        """Return True for what runs tests, by itself or with the help of what is *known* to do so."""
        return self.runs or not all(map(self.loads.isdisjoint, known))


def statements_that_test(body: Iterable[ast.stmt], guards: Collection[ast.stmt]) -> set[ast.stmt]:
    """Return which statements of a module run tests, or use what comes of them. A guard's are for itself."""
    noted = [note(each) for each in body]
    bound = {name for each in noted if each.node not in guards for name in each.bound}
    modules = {name for each in noted for name in each.tests if not isinstance(each.node, Definition)} - bound
    needed = set[str]()
    for _ in range(MAX_PASSES):
        search = _Search(modules, needed)
        for each in noted:
            if each.node in guards:
                search.modules |= each.tests
            else:
                search.take(each)
        if not (missed := search.read & search.lost):
            return search.found
        needed |= missed
    return set()


class _Search:
    """One way through a module, on which no statement is left out that binds a name that is *needed*.

    Attributes:
        modules: The names that mean what runs tests; at first those that do so at last, whoever is called before.
        runners: The functions, classes and methods that run tests.
        gone: The names that have no value, since what binds them is left out; those that ever were are `lost`.
        read: The names that are read by what stays.
        found: The statements that are left out.
    """

    def __init__(self, modules: set[str], needed: set[str]) -> None:
        self.modules, self.needed = set(modules), needed
        self.runners, self.gone, self.lost, self.read = set[str](), set[str](), set[str](), set[str]()
        self.found: set[ast.stmt] = set()

    def take(self, each: Noted) -> None:
        """Go on by a statement."""
        if isinstance(each.node, Definition):
            self._define(each)
            return
        self.modules |= each.tests
        for inner in each.inner:
            self._define(inner)
        uses = each.uses(self.gone, self.modules) or not each.calls.isdisjoint(self.runners)
        answers = any(not inner.uses(self.modules, self.runners) for inner in each.inner)  # or may do so
        if uses and not answers and self.needed.isdisjoint(each.bound):
            self.found.add(each.node)
            self.lost |= each.bound
            self._forget(each.bound)
            self.gone |= each.bound
            return
        self.read |= each.loads & self.gone
        names = each.bound - {name for inner in each.inner for name in inner.bound}
        self._forget(names)
        if not each.loads.isdisjoint(self.runners):  # `check = run_tests`
            self.runners |= names

    def _define(self, each: Noted) -> None:
        testing = {part for part in each.inner if part.uses(self.modules, self.runners)}
        tests = each.uses(self.modules, self.runners)
        self._forget(each.bound)
        self.runners.update(f".{name}" for part in testing for name in part.bound)
        if tests:
            self.runners |= each.bound
        else:
            self.read |= each.loads.union(*(part.reads for part in each.inner if part not in testing))

    def _forget(self, names: frozenset[str]) -> None:
        self.modules -= names
        self.runners -= names
        self.gone -= names


def note(node: ast.stmt) -> Noted:
    """Note what a statement does with names."""
    parts, definitions = _parts_of(node)
    inner = tuple(map(note, definitions))
    tests, names = frozenset(_imported(parts, of_tests=True)), [part for part in parts if isinstance(part, ast.Name)]
    loads = frozenset(name.id for name in names if isinstance(name.ctx, ast.Load)).union(_methods_called(parts))
    stored = {name.id for name in names if not isinstance(name.ctx, ast.Load)}
    bound = (stored - tests).union(_imported(parts), *(each.bound for each in inner))
    runs = any(map(_imports_by_its_name, parts)) or bool(tests & loads)
    if isinstance(node, ast.ClassDef):
        return Noted(node, loads - stored, loads, frozenset({node.name}), tests, runs, inner)
    if isinstance(node, Definition):
        loads = loads.union(*(each.reads for each in inner))
        runs = runs or bool(tests & loads) or any(each.runs for each in inner)
        shared = {name for part in parts if isinstance(part, ast.Global) for name in part.names}
        own = bound.union(tests, (part.arg for part in parts if isinstance(part, ast.arg))) - shared
        return Noted(node, loads - own, loads, frozenset({node.name}), tests, runs, ())
    assigns = isinstance(node, ast.Assign | ast.AnnAssign)  # what is given another name runs nothing by that
    calls = loads.intersection(_callees(parts)) if assigns else loads
    return Noted(node, loads, calls, frozenset(bound), tests, runs, inner)


def _parts_of(statement: ast.stmt) -> tuple[list[ast.AST], list[Definition]]:
    """Return the nodes of a statement without those of the definitions in it, and these."""
    definitions: list[Definition] = []
    parts: list[ast.AST] = [statement]
    for part in parts:  # grows while it is read
        for child in ast.iter_child_nodes(part):
            if isinstance(child, Definition):
                definitions.append(child)
            else:
                parts.append(child)
    return parts, definitions


def _imported(parts: Iterable[ast.AST], of_tests: bool = False) -> Iterator[str]:
    """Yield the names under which something is imported: what runs tests, or all else."""
    for part in parts:
        module = (part.module or "") if isinstance(part, ast.ImportFrom) else ""
        for alias in part.names if isinstance(part, ast.Import | ast.ImportFrom) else ():
            if ((module or alias.name).partition(".")[0] in TEST_RUNNERS) == of_tests:
                yield alias.asname or (alias.name if module else alias.name.partition(".")[0])


def _imports_by_its_name(part: ast.AST) -> bool:
    """Return True for `importlib.import_module("doctest")` and `__import__("doctest")`."""
    match part:
        case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name), args=[ast.Constant(str(module)), *_]):
            return name in IMPORTERS and module.partition(".")[0] in TEST_RUNNERS
    return False


def _methods_called(parts: Iterable[ast.AST]) -> Iterator[str]:
    calls = (part for part in parts if isinstance(part, ast.Call))
    yield from (f".{call.func.attr}" for call in calls if isinstance(call.func, ast.Attribute))


def _callees(parts: Iterable[ast.AST]) -> Iterator[str]:
    """Yield what is called: `f` and `.run` of `f().run()`."""
    for part in parts:
        if isinstance(part, ast.Call):
            if isinstance(part.func, ast.Attribute):
                yield f".{part.func.attr}"
            elif isinstance(part.func, ast.Name):
                yield part.func.id
