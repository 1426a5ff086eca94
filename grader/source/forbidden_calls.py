"""Forbidden calls in the source text: what the worker cannot talk itself out of.

The worker notices a forbidden call when it runs, under any alias; but it is the learner's own process. Here the same
ban is read from the source, by the judge. Only what an exercise's functions can reach counts: a comparison with torch's
own answer behind `if __name__ == "__main__":`, or in a helper that nothing calls, is good practice and no offence. What
they import from the learner's other files is followed there.

A name can be put together while the program runs, and then no reader of the source sees it. The worker does; so ways to
switch off its watch, or to run code that is not in the source, are not allowed either where calls are forbidden.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from grader.source.parse import nodes_in, parse
from grader.source.scopes import module_names
from grader.source.side_effects import is_main_guard

LIBRARIES = frozenset({
    "torch", "numpy", "scipy", "sklearn", "jax", "flax", "tensorflow", "keras", "transformers", "xformers", "cupy",
})  # fmt: skip

# Names with which a call can be hidden from whoever reads the source, or from the worker's watch.
CALLED = frozenset({"exec", "eval", "compile", "__import__"})
USED = frozenset({
    "DisableTorchFunction", "DisableTorchFunctionSubclass", "_DisableTorchDispatch", "_disabled_torch_function_impl",
    "_pop_torch_function_stack", "_pop_torch_dispatch_stack", "_dispatch_library", "_getframe", "_current_frames",
    "currentframe", "f_back", "f_globals", "f_locals", "f_builtins", "tb_frame", "gi_frame", "cr_frame", "__globals__",
    "__builtins__", "__closure__", "__code__", "__subclasses__", "get_objects", "get_referrers", "get_referents",
    "setprofile", "settrace", "import_module",
})  # fmt: skip
IMPORTED = frozenset({"ctypes", "grader", "runpy", "code", "codeop"})
PARTS = frozenset({"library", "_C"})  # of torch
_WORDS = "|".join(sorted(CALLED | USED | IMPORTED | PARTS))
_PERHAPS_HIDES = re.compile(rf"\b(?:{_WORDS})\b")


@dataclass(frozen=True)
class ForbiddenCall:
    """A forbidden name, and where it stands: `path` is empty for the lesson's own file. `hides`: it is no forbidden
    call, but one could be hidden with it."""

    name: str
    line: int
    path: str = ""
    hides: bool = False

    @property
    def says(self) -> str:
        """The sentence for the learner."""
        if self.hides:
            return f"It uses `{self.name}`, behind which a call that this exercise forbids could be hidden."
        return f"It calls `{self.name}`, which this exercise forbids: that call would do the exercise whole."


def find_forbidden_call(
    source: str, function: str, forbids: Iterable[str], siblings: Mapping[str, tuple[str, str]] | None = None
) -> ForbiddenCall | None:
    """The first forbidden call that `function` can reach, in its own file or in the `siblings` (path and source by
    module name) that it imports; None if there is none. A source that cannot be parsed has none."""
    wanted = {_folded(name): name for name in forbids}
    files = (("", "", source), *((name, path, text) for name, (path, text) in (siblings or {}).items()))
    if not wanted or not any(_perhaps(text, tuple(wanted)) for _, _, text in files):
        return None  # the common case, without parsing
    program = _program(files)
    return program.hiding or program.banned(function, wanted)


@lru_cache(maxsize=1)  # asked for each function of a file in turn
def _program(files: tuple[tuple[str, str, str], ...]) -> _Program:
    return _Program(files)


@lru_cache(maxsize=64)
def _perhaps(source: str, wanted: tuple[str, ...]) -> bool:
    folded = _folded(source)
    return any(name in folded for name in wanted) or _PERHAPS_HIDES.search(source) is not None


def _folded(name: str) -> str:
    """`log_softmax`, `LogSoftmax` and `_log_softmax` are one name."""
    return name.replace("_", "").lower()


class _Program:
    """A lesson's file, by the name "", and the learner's other modules: triples of name, path and source."""

    def __init__(self, files: tuple[tuple[str, str, str], ...]) -> None:
        self.paths = {name: path for name, path, _ in files}
        self.modules: dict[str, _Module] = {}
        for name, _, source in files:
            with contextlib.suppress(SyntaxError):
                self.modules[name] = _Module(parse(source), set(self.paths) - {""})
        self.hiding = next(self._hiding(), None)

    def banned(self, function: str, wanted: Mapping[str, str]) -> ForbiddenCall | None:
        """The first of the wanted names that the function comes to."""
        for where, node in self._reachable(function):
            for part in nodes_in(node):
                name = self.modules[where].called_name(part)
                if name is not None and _folded(name) in wanted:
                    return ForbiddenCall(wanted[_folded(name)], getattr(part, "lineno", 0), self.paths[where])
        return None

    def _hiding(self) -> Iterator[ForbiddenCall]:
        """Names with which a call could be hidden, wherever they stand: one of them at the top is enough."""
        for where, module in self.modules.items():
            for part in (part for statement in module.body for part in nodes_in(statement)):
                if name := module.hiding_name(part):
                    yield ForbiddenCall(name, getattr(part, "lineno", 0), self.paths[where], hides=True)

    def _reachable(self, function: str) -> Iterator[tuple[str, ast.AST]]:
        """Yield what binds the name `function`, whatever that mentions, and so on, as pairs of module name and node."""
        queue = [("", function)]
        seen = set(queue)
        seen_nodes: set[int] = set()  # a node may bind thousands of names
        while queue:
            where, name = queue.pop()
            module = self.modules.get(where)
            if module is None:
                continue
            found = {module.imported[name]} if name in module.imported else set()
            for node in module.bindings.get(name, ()):
                if id(node) not in seen_nodes:
                    seen_nodes.add(id(node))
                    yield where, node
                    found |= {(where if other is None else other, what) for other, what in module.mentions(node)}
            queue += sorted(found - seen)
            seen |= found


class _Module:
    """One file: what its top level binds and imports, and under which names."""

    def __init__(self, tree: ast.Module, own: set[str]) -> None:
        self.body = [node for node in tree.body if not is_main_guard(node)]
        self.classes = {node.name for node in nodes_in(tree) if isinstance(node, ast.ClassDef)}
        self.functions = {node.name for node in self.body if isinstance(node, ast.FunctionDef)}
        self.libraries: dict[str, str] = {}  # local name -> the library's name for it
        self.imported: dict[str, tuple[str, str]] = {}  # local name -> the learner's module and its name there
        self.beside: dict[str, str] = {}  # local name of a whole module of the learner's -> that module
        self.bindings: dict[str, list[ast.AST]] = {}
        for node in nodes_in(tree):
            self._note_import(node, own)
        for node in self.body:
            self._note_bindings(node)

    def _note_import(self, node: ast.AST, own: set[str]) -> None:
        if isinstance(node, ast.Import):
            self.beside.update({alias.asname or alias.name: alias.name for alias in node.names if alias.name in own})
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {alias.asname or alias.name: alias.name for alias in node.names}
            if node.module in own:
                self.imported.update({local: (str(node.module), name) for local, name in names.items()})
            elif node.module.partition(".")[0] in LIBRARIES:
                self.libraries.update(names)

    def _note_bindings(self, statement: ast.AST) -> None:
        """Every name that a statement of the top level binds, in whatever way, leads to that statement."""
        waiting = [statement]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.bindings.setdefault(node.name, []).append(node)
                continue
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.stmt | ast.ExceptHandler):
                    waiting.append(child)
                    continue
                for name in [part.id for part in nodes_in(child) if isinstance(part, ast.Name) and _stores(part)]:
                    self.bindings.setdefault(name, []).append(node)

    def mentions(self, node: ast.AST) -> set[tuple[str | None, str]]:
        """The names that a piece of code takes from the top level: (None, name) for this file's, (module, name) for
        those of one beside it. A name in quotes counts too: `globals()["helper"]`."""
        found: set[tuple[str | None, str]] = {(None, name) for name in module_names(node).read}
        for part in nodes_in(node):
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in self.bindings:
                found.add((None, part.value))
            elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id in self.beside:
                found.add((self.beside[part.value.id], part.attr))
            elif isinstance(part, ast.alias):  # imported where it is used
                found.add((None, part.asname or part.name))
        return found

    def called_name(self, node: ast.AST) -> str | None:
        """The name of the library that a piece of code uses, if it uses one: a method of the learner's own is none."""
        if isinstance(node, ast.Attribute):
            owner = node.value.func if isinstance(node.value, ast.Call) else node.value
            own = isinstance(owner, ast.Name) and (owner.id in {"self", "cls", *self.classes, *self.beside})
            return None if own else node.attr
        if isinstance(node, ast.Name):
            return self.libraries.get(node.id)
        return _name_in_quotes(node)

    def hiding_name(self, node: ast.AST) -> str:
        """The name in a node with which a forbidden call could be hidden; empty if there is none."""
        name = ""
        match node:
            case ast.Import():
                return next((alias.name for alias in node.names if _is_door(alias.name)), "")
            case ast.ImportFrom():
                names = [alias.name for alias in node.names]
                doors = [name for name in names if name in USED or _is_door(f"{node.module}.{name}")]
                return doors[0] if doors else ""
            case ast.Call(func=ast.Name(id=name)):
                return name if name in CALLED and name not in self.functions else ""
            case ast.Attribute(value=ast.Name(id="torch"), attr=name) if name in PARTS:
                return f"torch.{name}"
            case ast.Attribute(attr=name) | ast.Name(id=name):
                pass
            case ast.Constant(value=str(name)):
                pass
        return name if name in USED else ""


def _stores(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _name_in_quotes(node: ast.AST) -> str | None:
    """What is asked for by name: `getattr(torch, "exp")`, `vars(torch)["exp"]`, `torch.__dict__["exp"]`."""
    if isinstance(node, ast.Subscript):
        names = _last_name(node.value) in ("vars", "globals", "__dict__")
        return _text_of(node.slice) if names else None
    if isinstance(node, ast.Call) and _last_name(node) in ("getattr", "__getattribute__", "attrgetter", "methodcaller"):
        return next((text.rpartition(".")[2] for argument in node.args if (text := _text_of(argument))), None)
    return None


def _last_name(node: ast.AST) -> str:
    """`f` of `f`, `a.f` and `a.f(...)`."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _text_of(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _is_door(module: str) -> bool:
    first, _, second = module.partition(".")
    return first in IMPORTED or (first == "torch" and second.partition(".")[0] in PARTS)
