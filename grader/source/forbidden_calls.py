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
import builtins
import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from grader.source.at_import import head_of, parts_run_at_import, plain_annotations
from grader.source.hiding_names import (
    HIDING_CALLS,
    LIBRARIES,
    LONG_NAME,
    LOOKUPS,
    MAKING_TEXT,
    MAX_NAMES,
    NAMES_BY_TEXT,
    harmless_nodes,
    hiding_place,
    hiding_word,
    last_name,
    lists_all_names,
    may_rebind,
    name_in_quotes,
    named_lookups,
    takes_names_away,
    text_of,
    used_of_all,
    used_place,
)
from grader.source.parse import nodes_in, parse
from grader.source.scopes import (
    Definition,
    attributes_given,
    imported_name,
    names_bound_anywhere,
    names_bound_by,
    names_read,
    root_name,
)
from grader.worker.main_guard import without_main_guard


@dataclass(frozen=True)
class ForbiddenCall:
    """A forbidden name and where it stands; `path` is "" for the lesson's own file.

    `hides`: the name is not forbidden itself, but a forbidden call could be hidden with it.
    """

    name: str
    line: int
    path: str = ""
    hides: bool = False

    @property
    def says(self) -> str:
        """Return the sentence for the learner."""
        if self.hides:
            return f"It uses `{self.name}`, behind which a call that this exercise forbids could be hidden."
        return f"It calls `{self.name}`, which this exercise forbids: that call would do the exercise whole."


def find_forbidden_calls(
    source: str,
    functions: Collection[str],
    matches: Callable[[str], str | None],
    siblings: Mapping[str, tuple[str, str]] | None = None,
    name: str = "",
) -> dict[str, ForbiddenCall]:
    """Return the first forbidden call that each of *functions* can reach; a source that is not Python has none.

    *source* is the lesson's own file, which it may import as *name*; *siblings* are path and source, by module name, of
    others that it may import. *matches* tells whether a library's name is forbidden.
    """
    program = _Program(source, {**(siblings or {}), **({name: ("", source)} if name else {})})
    hiding = program.find_hiding(functions)
    found = {name: program.find(name, matches) or hiding for name in functions}
    return {name: call for name, call in found.items() if call is not None}


class _Program:
    """A lesson's file, which is the module "", and the learner's other modules, each read when it is reached."""

    def __init__(self, source: str, siblings: Mapping[str, tuple[str, str]]) -> None:
        self.files = {"": ("", source), **siblings}
        self.own = frozenset(siblings)
        self.modules: dict[str, _Module | None] = {}

    def find(self, function: str, matches: Callable[[str], str | None]) -> ForbiddenCall | None:
        """Return the first call of a forbidden name that the function reaches."""
        of_stars = cache(lambda module: _forbidden(".".join(module.stars), matches))

        def name_of(module: _Module, part: ast.AST) -> str:
            name = _forbidden(module.called_name(part), matches)
            return name or (of_stars(module) if module.is_of_star(part) else "")

        return next(self._calls([("", function)], name_of), None)

    def find_hiding(self, functions: Iterable[str]) -> ForbiddenCall | None:
        """Return the first name with which a call could be hidden, in reach of a function or of the import.

        In the learner's other modules that are reached, everything counts: a module may give a name in many ways.
        """
        names, read = [("", AT_IMPORT), *(("", name) for name in functions)], {""}
        while names:
            if found := next(self._calls(names, _Module.hiding_name, hides=True), None):
                return found
            names = [(where, EVERYTHING) for where in self.modules if where not in read]
            read |= set(self.modules)
        return None

    def _calls(
        self, names: Iterable[tuple[str, str]], name_of: Callable[[_Module, ast.AST], str], hides: bool = False
    ) -> Iterator[ForbiddenCall]:
        for where, module, node in self._reachable(names):
            running = module.running_calls(node) if hides else ()
            for part in nodes_in(node):
                name = name_of(module, part)
                if running and isinstance(part, ast.Name) and part.id in running:
                    name = part.id
                if name:
                    yield ForbiddenCall(name, getattr(part, "lineno", 0), self.files[where][0], hides)

    def _module(self, where: str) -> _Module | None:
        if where not in self.modules:
            self.modules[where] = None
            with contextlib.suppress(SyntaxError, KeyError):
                self.modules[where] = _read_module(self.files[where][1], self.own)
        return self.modules[where]

    def _reachable(self, names: Iterable[tuple[str, str]]) -> Iterator[tuple[str, _Module, ast.AST]]:
        """Yield what binds these names, whatever that mentions, and so on, with the module where it stands."""
        queue = list(names)
        seen = set(queue)
        seen_nodes: set[int] = set()  # a node may bind thousands of names
        while queue:
            where, name = queue.pop()
            module = self._module(where)
            if module is None:
                continue
            found = {module.imported[name]} if name in module.imported else set()
            if name not in module.bindings:  # it may come with `from helper import *`
                found |= {(other, name) for other in module.own_stars}
            for node in module.body if name == EVERYTHING else module.bindings.get(name, ()):
                if id(node) not in seen_nodes:
                    seen_nodes.add(id(node))
                    yield where, module, node
                    if id(node) not in module.only_seen:
                        found |= {(where if other is None else other, what) for other, what in module.mentions(node)}
            queue += sorted(found - seen)
            seen |= found


def _attributes(node: ast.AST) -> list[str]:
    """Return the attributes that a node takes of an object: `x.a`, `case object(a=x)`, in quotes."""
    if isinstance(node, ast.Attribute):
        return [node.attr]
    return node.kwd_attrs if isinstance(node, ast.MatchClass) else [name_in_quotes(node) or ""]


def _forbidden(name: str | None, matches: Callable[[str], str | None]) -> str:
    """Return the first forbidden part of a dotted name: a class out of a forbidden module is forbidden, too."""
    return next((part for part in (name or "").split(".") if part and matches(part)), "")


BODY = ast.stmt | ast.ExceptHandler
BINDS = ast.Name | ast.MatchAs | ast.MatchStar | ast.MatchMapping
AT_IMPORT = ""  # stands for what runs when a module is imported
EVERYTHING = "*"  # for all that a module binds


class _Module:
    """One file: what its top level binds and imports, and under which names."""

    def __init__(self, tree: ast.Module, own: frozenset[str]) -> None:
        """Read a file; `own` are the modules beside it."""
        self.body, self.own = without_main_guard(tree), own
        nodes = nodes_in(tree)
        self.classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
        self.functions = {node.name: node.lineno for node in self.body if isinstance(node, ast.FunctionDef)}
        if any(map(takes_names_away, nodes)):
            self.functions.clear()
        self.paths: dict[str, str] = {}  # local name -> what was imported, as a dotted name
        self.imported: dict[str, tuple[str, str]] = {}  # local name -> the learner's module and its name there
        self.own_modules: dict[str, str] = {}  # local name of a whole module of the learner's -> that module
        self.own_attributes = set(attributes_given(nodes))
        self.harmless, self.named = harmless_nodes(nodes), named_lookups(nodes)
        self.own_stars: list[str] = []  # the learner's modules of which everything was imported
        self.stars: list[str] = []  # libraries of which everything was imported: `from torch.nn.functional import *`
        self._mentions: dict[ast.AST, set[tuple[str | None, str]]] = {}
        self.assembled: set[str] = set()  # names of texts that were put together from constants
        self.only_seen = plain_annotations(tree, nodes)
        self.bindings: dict[str, list[ast.AST]] = {}
        for node in nodes:
            self._note_import(node, own)
        self.own_names = set(names_bound_anywhere(nodes)) if self.stars else set()
        for node in nodes:
            self._note_alias(node)
        for node in self.body:
            self._note_bindings(node)
        changed = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
        self._may_be_own = changed.union(self.bindings, self.imported, self.own_modules, self.own_attributes)
        self._any_may_be_own = bool(self.own_stars) or any(map(may_rebind, nodes))
        self.bindings[AT_IMPORT] = [part for node in self.body for part in parts_run_at_import(node, self._foreign)]

    def _foreign(self, node: ast.AST) -> str:
        """Return the dotted name of what is Python's own or a library's, "" for what may be the learner's."""
        root = root_name(node) if isinstance(node, ast.expr) else ""
        if self._any_may_be_own or root in self._may_be_own:
            return ""
        return self._path(node) or (root if isinstance(node, ast.Name) and hasattr(builtins, root) else "")

    def _note_import(self, node: ast.AST, own: frozenset[str]) -> None:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            return
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            local = alias.asname or alias.name
            if isinstance(node, ast.Import) and alias.name in own:
                self.own_modules[local] = alias.name
            elif module in own and alias.name == "*":
                self.own_stars += [] if module in self.own_stars else [module]
            elif module in own:
                self.imported[local] = (module, alias.name)
            elif alias.name == "*":
                self.stars += [module] if module.partition(".")[0] in LIBRARIES else []
                self.paths.update(used_of_all(module))
            elif isinstance(node, ast.Import):
                self._note_path(imported_name(alias), alias.name if alias.asname else imported_name(alias))
            else:
                self._note_path(local, f"{module}.{alias.name}")

    def _note_path(self, local: str, path: str) -> None:
        """Note what a name stands for; where it is given twice, what could do more harm."""
        known = self.paths.get(local, "")
        if known.partition(".")[0] not in LIBRARIES and not used_place(known):
            self.paths[local] = path

    def _note_alias(self, node: ast.AST) -> None:
        """Note what an assignment gives a further name, `t = torch.nn`, or puts together, `n = "a" + "b"`."""
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            if self._is_assembled(node.value):
                self.assembled.add(node.targets[0].id)
            elif path := self._path(node.value):
                self.paths.setdefault(node.targets[0].id, path)

    def _path(self, node: ast.AST) -> str:
        """Return the dotted name of what was imported, `torch.nn.functional` for `F`; "" for anything else."""
        names: list[str] = []
        while not isinstance(node, ast.Name):
            if isinstance(node, ast.Attribute):
                names.append(node.attr)
                node = node.value
            elif isinstance(node, ast.Call) and last_name(node) == "getattr" and len(node.args) > 1:
                names.append(text_of(node.args[1]) or "?")
                node = node.args[0]
            else:
                return ""
            if len(names) > MAX_NAMES:
                return LONG_NAME
        root = self.paths.get(node.id, "")
        is_long = root.count(".") + len(names) > MAX_NAMES
        return LONG_NAME if is_long else ".".join([root, *reversed(names)]) if root else ""

    def _note_bindings(self, statement: ast.AST) -> None:
        """Map every name that a top-level statement binds to it; to its first line, if other statements are in it."""
        waiting = [statement]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Definition):
                self.bindings.setdefault(node.name, []).append(node)
                node = ast.Tuple([*head_of(node)])  # in which `(name := value)` may stand
                self._note_names(node)
                continue
            parts = [part for child in ast.iter_child_nodes(node) for part in _open_case(child)]
            inner = [part for part in parts if isinstance(part, BODY)]
            waiting += inner
            if inner:  # or a body would be read once for each statement around it
                header = [part for part in parts if not isinstance(part, BODY)]
                node = ast.Tuple(header)  # type: ignore[arg-type]  # of any nodes
            self._note_names(node)

    def _note_names(self, node: ast.AST) -> None:
        for part in nodes_in(node):
            if isinstance(part, BINDS):
                for name in names_bound_by(part):
                    self.bindings.setdefault(name, []).append(node)

    def mentions(self, node: ast.AST) -> set[tuple[str | None, str]]:
        """Return the top-level names that code uses: (None, name) of this file, (module, name) of one beside it.

        A name in quotes counts too: `globals()["helper"]`.
        """
        if node not in self._mentions:
            self._mentions[node] = self._find_mentions(node)
        return self._mentions[node]

    def _find_mentions(self, node: ast.AST) -> set[tuple[str | None, str]]:
        parts = nodes_in(node)
        found: set[tuple[str | None, str]] = {(None, name) for name in names_read(node, parts)}
        found |= {(None, EVERYTHING)} if lists_all_names(parts) else set()
        owners = {id(part.value) for part in parts if self.own_modules and isinstance(part, ast.Attribute)}
        for part in parts:
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in self.bindings:
                found.add((None, part.value))
            elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                if part.value.id in self.own_modules:
                    found.add((self.own_modules[part.value.id], part.attr))
            elif isinstance(part, ast.Name) and part.id in self.own_modules and id(part) not in owners:
                found.add((self.own_modules[part.id], EVERYTHING))  # in whatever hands
            elif isinstance(part, ast.ImportFrom) and part.module in self.own:
                found.add((part.module, AT_IMPORT))
            elif isinstance(part, ast.alias):  # imported where it is used
                found.add((None, part.asname or part.name))
                if part.name in self.own:
                    found.add((part.name, AT_IMPORT))
        return found

    def called_name(self, node: ast.AST) -> str | None:
        """Return the library's name for what a node uses, if it uses a library and not the learner's own method.

        For a name by itself that is all that leads to it: `optim.lr_scheduler.StepLR`, imported as `Step`.
        """
        if isinstance(node, ast.Attribute):
            if self._path(node).partition(".")[0] in LIBRARIES:
                return node.attr
            owner = node.value.func if isinstance(node.value, ast.Call) else node.value
            own = isinstance(owner, ast.Name) and (owner.id in {"self", "cls", *self.classes, *self.own_modules})
            return None if own or node.attr in self.own_attributes else node.attr
        if isinstance(node, ast.Name):
            if self.is_of_star(node):
                return node.id
            path = self.paths.get(node.id, "")
            return path.partition(".")[2] if path.partition(".")[0] in LIBRARIES else None
        own = isinstance(node, ast.MatchClass) and isinstance(node.cls, ast.Name) and node.cls.id in self.classes
        return None if own else ".".join(_attributes(node))

    def is_of_star(self, node: ast.AST) -> bool:
        """Return True for a name that is nobody's but one of the libraries' of which everything was imported."""
        if not self.stars or not isinstance(node, ast.Name):
            return False
        return node.id not in self.own_names and not self.paths.get(node.id)

    def hiding_name(self, node: ast.AST) -> str:
        """Return the name in a node with which a forbidden call could be hidden, or ""."""
        match node:
            case ast.ImportFrom(level=level) if level:  # a lesson is in no package, unless it says that it is in torch
                return "." * level
            case ast.Import() | ast.ImportFrom():
                paths = [f"{getattr(node, 'module', None) or ''}.{alias.name}".strip(".") for alias in node.names]
                star = used_place(paths[0][:-2]) if paths[0].endswith(".*") else ""
                return next((found for path in paths if (found := hiding_place(path))), star)
            case ast.Call(func=ast.Name(id="dir" | "vars" as lists), args=[thing]) if self._is_not_own(thing, node):
                return lists
            case ast.Attribute(attr="__dict__", value=thing) if self._path(thing) and id(node) not in self.named:
                return "__dict__"
            case ast.Call() if self._looks_up_unread_name(node):
                return last_name(node)
            case ast.Subscript(value=names, slice=key) if last_name(names) in NAMES_BY_TEXT and self._is_assembled(key):
                return last_name(names)
            case ast.Call() | ast.Attribute() | ast.Name(ctx=ast.Load()) if place := self._place(node):
                return place
        return hiding_word(node, _attributes(node))

    def running_calls(self, node: ast.AST) -> set[str]:
        """Return what runs a text that code takes from Python itself: from its line on, a function is the learner's."""
        read = HIDING_CALLS & {name for module, name in self.mentions(node) if module is None}
        line = getattr(node, "lineno", 0)
        return {name for name in read if not self.functions.get(name, line) < line}

    def _is_assembled(self, node: ast.AST) -> bool:
        """Return True for a name that is put together from nothing but constants, or stands for such a one."""
        if isinstance(node, ast.Name):
            return node.id in self.assembled
        parts = nodes_in(node)
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        texts = [part for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str | bytes)]
        return len(parts) > 1 and bool(texts) and names <= MAKING_TEXT

    def _looks_up_unread_name(self, call: ast.Call) -> bool:
        """Return True for `getattr(torch, n)`: no reader of the source knows which name that will be."""
        if last_name(call) not in LOOKUPS or not call.args or any(map(text_of, call.args[:2])):
            return False
        thing = call.args[0]
        if isinstance(call.func, ast.Attribute) and len(call.args) == 1:  # x.__getattribute__(n)
            thing = call.func.value
        return self._is_not_own(thing, call)

    def _is_not_own(self, thing: ast.expr, lookup: ast.AST) -> bool:
        """Return True where a name is looked up, or all are, in what need not be an object of the learner's own."""
        return last_name(thing) not in ("self", "cls", "super") and id(lookup) not in self.named

    def _place(self, node: ast.AST) -> str:
        """Return the hiding place that a node names, if it does not only lead to another."""
        path = "" if id(node) in self.harmless else self._path(node)
        # the module `sys` itself, in the hands of `getattr` or `vars`, is as good as what is in it
        return path if path == "sys" else used_place(path)


@lru_cache(maxsize=32)  # of a learner's lessons in turn
def _read_module(source: str, own: frozenset[str]) -> _Module:
    return _Module(parse(source), own)


def _open_case(node: ast.AST) -> Iterable[ast.AST]:
    """Return what is in a `case`, whose names are those of the `match`; any other node as it is."""
    return ast.iter_child_nodes(node) if isinstance(node, ast.match_case) else [node]
