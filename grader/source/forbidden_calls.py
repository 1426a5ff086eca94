"""Find a forbidden call in a source, under whatever name.

The worker notices forbidden calls when they run, but it is the learner's own process; here the judge reads the source.
Only what an exercise's functions can reach counts, through the learner's other files too: a comparison with torch's
answer behind `if __name__ == "__main__":`, or in a helper that is never called, is good practice.

A name can be put together while the program runs. The worker sees that; so where calls are forbidden, ways to switch
off its call monitor, to reach what a library keeps for itself, or to run code that is not in the source, are forbidden
too. They count in reach of any of the exercise's functions, and in what runs when the file is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from grader.source.changed_at_import import ANYTHING
from grader.source.hiding_module import HidingModule, read_module
from grader.source.hiding_names import ITSELF
from grader.source.linked_names import TooManyNames
from grader.source.module_names import AT_IMPORT, EVERYTHING
from grader.source.parse import TooDeep, TooLarge

MAX_NODES = 100_000  # of all files together: exercises have a few thousand
MAX_LINKS = 12  # times that a name of a file is looked for in those it imports: two or three are enough
MODULE_LOOKUP = "__getattr__"  # a function of a module that is asked for the names which it has not
HIDES = "behind which a call that this exercise forbids could be hidden."
UNREAD = "a file that is not read"  # in the place of a name


@dataclass(frozen=True)
class ForbiddenCall:
    """A forbidden name and where it stands; `path` is "" for the lesson's own file.

    `hides`: the name is not forbidden itself, but a forbidden call could be hidden with it. `written` is what it is
    called as there, or by its library: a learner's own function has the lesson's name, too.
    """

    name: str
    line: int
    path: str = ""
    hides: bool = False
    written: str = ""

    @property
    def says(self) -> str:
        """Return the sentence for the learner."""
        if self.name.startswith(UNREAD):
            why = "is too long or too deep to be read"
            if self.name != UNREAD:
                why = f"holds something that the grader cannot read{self.name.removeprefix(UNREAD)}"
            return f"The file {why}: what this exercise forbids could be hidden in it."
        if self.hides:
            name = self.name.removesuffix(ITSELF)
            uses = f"It uses `{name}`" if name == self.name else f"It hands on `{name}` itself, as a value"
            return f"{uses}, {HIDES}"
        return (
            f"It calls `{self.written or self.name}`, which this exercise forbids: it is to be done without that call."
        )


def find_forbidden_calls(
    source: str,
    functions: Collection[str],
    matches: Callable[[str], str | None],
    siblings: Mapping[str, tuple[str, str]] | None = None,
    name: str = "",
) -> dict[str, ForbiddenCall]:
    """Return the first forbidden call that each of *functions* can reach; a source that is not Python has none.

    *source* is the lesson's own file, which it may import as *name*; *siblings* are path and source, by module name, of
    others that it may import. *matches* tells whether a library's name is forbidden. Never raises because of a source.
    """
    program = _Program(source, {**(siblings or {}), **({name: ("", source)} if name else {})}, functions)
    try:
        hiding = program.find_hiding(functions)
        found = {name: program.find(name, matches) or hiding for name in functions}
    except Exception as error:  # nothing is known of a file that this does not get through
        found = dict.fromkeys(functions, ForbiddenCall(f"{UNREAD} ({type(error).__name__})", 1, hides=True))
    return {name: call for name, call in found.items() if call is not None}


class _Program:
    """A lesson's file, which is the module "", and the learner's other modules, each read when it is reached."""

    def __init__(self, source: str, siblings: Mapping[str, tuple[str, str]], functions: Collection[str]) -> None:
        self.functions = functions
        self.files = {"": ("", source), **siblings}
        self.own = frozenset(siblings)
        self.modules: dict[str, HidingModule | None] = {}
        self.read: dict[str, HidingModule | None] = {}  # those, and what they import
        self.unread: list[str] = []  # modules that are too deep for a reader, or too large
        self._size = 0

    def find(self, function: str, matches: Callable[[str], str | None]) -> ForbiddenCall | None:
        """Return the first call of a forbidden name that the function reaches."""
        of_stars = cache(lambda module: _forbidden(".".join(module.stars), matches))

        def name_of(module: HidingModule, part: ast.AST) -> str:
            name = _forbidden(module.called_name(part), matches)
            return name or (of_stars(module) if module.is_of_star(part) else "")

        # a name of a module that is given other functions may mean any of them
        changed = [(where, EVERYTHING) for where, module in self.modules.items() if module and module.changes_modules]
        return next(self._calls([("", function), *changed], name_of), None)

    def find_hiding(self, functions: Iterable[str]) -> ForbiddenCall | None:
        """Return the first name with which a call could be hidden, in reach of a function or of the import.

        So it is in the learner's other modules; but of one that may give any of its names, everything counts.
        """
        names, read = [("", AT_IMPORT), *(("", name) for name in functions)], {""}
        while names:
            if found := next(self._calls(names, HidingModule.hiding_name, hides=True), None):
                return found
            names = [(where, EVERYTHING) for where in self._giving_any_name() if where not in read]
            read |= {where for where, _ in names}
        return self._find_unread()

    def _giving_any_name(self) -> list[str]:
        """Return the modules of which a name may mean any other: all, if one gives a module other functions."""
        found = {where: module for where, module in self.modules.items() if module}
        is_changed = any(module.changes_modules for module in found.values())
        return [where for where, module in found.items() if is_changed or MODULE_LOOKUP in module.bindings]

    def _find_unread(self) -> ForbiddenCall | None:
        reached = [where for where in self.unread if where in self.modules]
        unread = ((self.files[where][0], f"{where}.py" if where else UNREAD) for where in reached)
        return next((ForbiddenCall(name, 1, path, hides=True) for path, name in unread), None)

    def _calls(
        self, names: Iterable[tuple[str, str]], name_of: Callable[[HidingModule, ast.AST], str], hides: bool = False
    ) -> Iterator[ForbiddenCall]:
        for where, module, node in self._reachable(names):
            running, hints = module.running_calls(node) if hides else (), module.hints
            for part in module.parts(node):
                name = "" if id(part) in hints else name_of(module, part)
                if running and isinstance(part, ast.Name) and part.id in running:
                    name = part.id
                if name:
                    written = "" if hides else module.written_name(part)
                    yield ForbiddenCall(name, getattr(part, "lineno", 0), self.files[where][0], hides, written)

    def _module(self, where: str) -> HidingModule | None:
        if where not in self.modules:
            if where not in self.read:
                self._read_all(where)
            self.modules[where] = self.read.get(where)
        return self.modules[where]

    def _read_all(self, where: str) -> None:
        """Read a file, and those that it imports; tell each what the names mean that it has of the others.

        Raises TooManyNames.
        """
        waiting = [where]
        while waiting:
            name = waiting.pop()
            if name in self.files and name not in self.read:
                module = self.read[name] = self._read(name)
                waiting += sorted(module.own_imports) if module else ()
        found = {name: module for name, module in self.read.items() if module}
        importing = [module for module in reversed(found.values()) if module.own_imports]  # first what is imported
        for _ in range(MAX_LINKS):
            if not sum(module.link(found) for module in importing):
                return
        raise TooManyNames

    def _read(self, where: str) -> HidingModule | None:
        """Read a file; None if it is no Python, or has to be left unread."""
        try:
            module = read_module(self.files[where][1], self.own)
            if module.own_imports:  # what is kept of a file is the same whatever stands beside it
                module = HidingModule(self.files[where][1], self.own)
        except SyntaxError as error:
            # the lesson's own file is loaded before it could raise the limit of depth
            if isinstance(error, TooLarge) or (isinstance(error, TooDeep) and where):
                self.unread.append(where)
            return None
        self._size += module.size
        if self._size <= MAX_NODES:
            return module
        self.unread.append(where)
        return None

    def _nodes_of(self, module: HidingModule, name: str, seen: Container[int]) -> Iterable[ast.AST]:
        """Return what binds a name of a module, and what not yet *seen* puts something into the object it stands for.

        A statement that calls one of the exercise's own functions is a trial of it: `print(softmax(x) - F.softmax(x))`,
        and so is one that calls a test which reaches what is changed by way of these alone.
        """
        if name == EVERYTHING:
            return module.body
        unseen = ((node, callee) for node, callee in module.changes.of(name) if id(node) not in seen)
        changing = [node for node, callee in unseen if not self._tries(module, callee, name)]
        return [*module.bindings.get(name, ()), *changing]

    def _tries(self, module: HidingModule, callee: str, name: str) -> bool:
        if not callee or callee in self.functions:
            return bool(callee)
        changed = module.variables_of(callee, self.functions)
        return bool(module.variables_of(callee) - changed) and not changed & {name, ANYTHING}

    def _reachable(self, names: Iterable[tuple[str, str]]) -> Iterator[tuple[str, HidingModule, ast.AST]]:
        """Yield what binds these names, whatever that mentions, and so on, with the module where it stands."""
        queue = list(names)
        seen = set(queue)
        seen_nodes: set[int] = set()  # a node may bind thousands of names
        while queue:
            where, name = queue.pop()
            module = self._module(where)
            if module is None:
                continue
            found = set(module.imported.get(name, ()))
            if name not in module.bindings:  # it may come with `from helper import *`
                found |= {(other, name) for other in module.own_stars}
            for node in self._nodes_of(module, name, seen_nodes):
                if id(node) not in seen_nodes:
                    seen_nodes.add(id(node))
                    yield where, module, node
                    if id(node) not in module.only_seen:
                        found |= {(where if other is None else other, what) for other, what in module.mentions(node)}
            found |= self._modules_handed_on(where, found)
            if name == EVERYTHING:
                found |= {(other, EVERYTHING) for other in (*module.own_modules.values(), *module.own_stars)}
            queue += sorted(found - seen)
            seen |= found

    def _modules_handed_on(self, where: str, found: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
        """Return everything of the modules that come by way of another than *where*: `helper.other.f`."""
        through = [(module, name) for other, name in found if other != where and (module := self._module(other))]
        return {(module.own_modules[name], EVERYTHING) for module, name in through if name in module.own_modules}


def _forbidden(name: str | None, matches: Callable[[str], str | None]) -> str:
    """Return the first forbidden part of a dotted name: a class out of a forbidden module is forbidden, too."""
    return next((part for part in (name or "").split(".") if part and matches(part)), "")
