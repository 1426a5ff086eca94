"""Find a forbidden call in a source, under whatever name.

The worker notices forbidden calls when they run, but it is the learner's own process; here the judge reads the source.
Only what an exercise's functions can reach counts, through the learner's other files too: a comparison with torch's
answer behind `if __name__ == "__main__":`, or in a helper that is never called, is good practice.

A name can be put together while the program runs. The worker sees that; so where calls are forbidden, ways to switch
off its call monitor, or to run code that is not in the source, are forbidden too.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from grader.source.parse import nodes_in, parse
from grader.source.scopes import Definition, module_names
from grader.source.side_effects import is_main_guard

# fmt: off
LIBRARIES = frozenset({
    "torch", "numpy", "scipy", "sklearn", "jax", "flax", "tensorflow", "keras", "transformers", "xformers", "cupy",
})

# Names with which a call can be hidden from a reader of the source, or from the call monitor.
HIDING_CALLS = frozenset({"exec", "eval", "compile", "__import__"})
HIDING_NAMES = frozenset({
    "DisableTorchFunction", "DisableTorchFunctionSubclass", "_DisableTorchDispatch", "_disabled_torch_function_impl",
    "_pop_torch_function_stack", "_pop_torch_dispatch_stack", "_dispatch_library", "_getframe", "_current_frames",
    "currentframe", "f_back", "f_globals", "f_locals", "f_builtins", "tb_frame", "gi_frame", "cr_frame", "__globals__",
    "__builtins__", "__closure__", "__code__", "__subclasses__", "get_objects", "get_referrers", "get_referents",
    "setprofile", "settrace", "import_module",
})
# fmt: on
HIDING_MODULES = frozenset({"ctypes", "grader", "runpy", "code", "codeop"})
TORCH_INTERNALS = frozenset({"library", "_C"})
_WORDS = "|".join(sorted(HIDING_CALLS | HIDING_NAMES | HIDING_MODULES | TORCH_INTERNALS))
_MAY_HIDE = re.compile(rf"\b(?:{_WORDS})\b")


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


def find_forbidden_call(
    source: str, function: str, forbids: Iterable[str], siblings: Mapping[str, tuple[str, str]] | None = None
) -> ForbiddenCall | None:
    """Return the first forbidden call that *function* can reach, None if there is none or the source is not Python.

    *source* is the lesson's own file; *siblings* are path and source, by module name, of files that it may import.
    """
    wanted = {_fold(name): name for name in forbids}
    files = (("", "", source), *((name, path, text) for name, (path, text) in (siblings or {}).items()))
    if not wanted or not any(_may_contain(text, tuple(wanted)) for _, _, text in files):
        return None  # the common case, without parsing
    program = _read_program(files)
    return program.hiding or program.find(function, wanted)


@lru_cache(maxsize=64)
def _may_contain(source: str, wanted: tuple[str, ...]) -> bool:
    folded = _fold(source)
    return any(name in folded for name in wanted) or _MAY_HIDE.search(source) is not None


def _fold(name: str) -> str:
    """Fold a name: `log_softmax`, `LogSoftmax` and `_log_softmax` are one."""
    return name.replace("_", "").lower()


class _Program:
    """A lesson's file, named "", and the learner's other modules, as triples of name, path and source."""

    def __init__(self, files: tuple[tuple[str, str, str], ...]) -> None:
        self.paths = {name: path for name, path, _ in files}
        self.modules: dict[str, _Module] = {}
        for name, _, source in files:
            with contextlib.suppress(SyntaxError):
                self.modules[name] = _Module(parse(source), set(self.paths) - {""})
        self.hiding = next(self._hiding(), None)

    def find(self, function: str, wanted: Mapping[str, str]) -> ForbiddenCall | None:
        """Return the first call of a wanted name that the function reaches."""
        for where, node in self._reachable(function):
            for part in nodes_in(node):
                name = self.modules[where].called_name(part)
                if name is not None and _fold(name) in wanted:
                    return ForbiddenCall(wanted[_fold(name)], getattr(part, "lineno", 0), self.paths[where])
        return None

    def _hiding(self) -> Iterator[ForbiddenCall]:
        """Yield names with which a call could be hidden, wherever they stand."""
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


_read_program = lru_cache(maxsize=1)(_Program)  # asked for each function of a file in turn


class _Module:
    """One file: what its top level binds and imports, and under which names."""

    def __init__(self, tree: ast.Module, own: set[str]) -> None:
        self.body = [node for node in tree.body if not is_main_guard(node)]
        self.classes = {node.name for node in nodes_in(tree) if isinstance(node, ast.ClassDef)}
        self.functions = {node.name for node in self.body if isinstance(node, ast.FunctionDef)}
        self.libraries: dict[str, str] = {}  # local name -> the library's name for it
        self.imported: dict[str, tuple[str, str]] = {}  # local name -> the learner's module and its name there
        self.own_modules: dict[str, str] = {}  # local name of a whole module of the learner's -> that module
        self.bindings: dict[str, list[ast.AST]] = {}
        for node in nodes_in(tree):
            self._note_import(node, own)
        for node in self.body:
            self._note_bindings(node)

    def _note_import(self, node: ast.AST, own: set[str]) -> None:
        if isinstance(node, ast.Import):
            self.own_modules.update(
                {alias.asname or alias.name: alias.name for alias in node.names if alias.name in own}
            )
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {alias.asname or alias.name: alias.name for alias in node.names}
            if node.module in own:
                self.imported.update({local: (str(node.module), name) for local, name in names.items()})
            elif node.module.partition(".")[0] in LIBRARIES:
                self.libraries.update(names)

    def _note_bindings(self, statement: ast.AST) -> None:
        """Map every name that a top-level statement binds to that statement."""
        waiting = [statement]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Definition):
                self.bindings.setdefault(node.name, []).append(node)
                continue
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.stmt | ast.ExceptHandler):
                    waiting.append(child)
                    continue
                for part in nodes_in(child):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        self.bindings.setdefault(part.id, []).append(node)

    def mentions(self, node: ast.AST) -> set[tuple[str | None, str]]:
        """Return the top-level names that code uses: (None, name) of this file, (module, name) of one beside it.

        A name in quotes counts too: `globals()["helper"]`.
        """
        found: set[tuple[str | None, str]] = {(None, name) for name in module_names(node).read}
        for part in nodes_in(node):
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in self.bindings:
                found.add((None, part.value))
            elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                if part.value.id in self.own_modules:
                    found.add((self.own_modules[part.value.id], part.attr))
            elif isinstance(part, ast.alias):  # imported where it is used
                found.add((None, part.asname or part.name))
        return found

    def called_name(self, node: ast.AST) -> str | None:
        """Return the library's name for what a node uses, if it uses a library and not the learner's own method."""
        if isinstance(node, ast.Attribute):
            owner = node.value.func if isinstance(node.value, ast.Call) else node.value
            own = isinstance(owner, ast.Name) and (owner.id in {"self", "cls", *self.classes, *self.own_modules})
            return None if own else node.attr
        if isinstance(node, ast.Name):
            return self.libraries.get(node.id)
        return _name_in_quotes(node)

    def hiding_name(self, node: ast.AST) -> str:
        """Return the name in a node with which a forbidden call could be hidden, or ""."""
        name = ""
        match node:
            case ast.Import():
                return next((alias.name for alias in node.names if _is_hiding_module(alias.name)), "")
            case ast.ImportFrom():
                names = [alias.name for alias in node.names]
                hiding = [name for name in names if name in HIDING_NAMES or _is_hiding_module(f"{node.module}.{name}")]
                return hiding[0] if hiding else ""
            case ast.Call(func=ast.Name(id=name)):
                return name if name in HIDING_CALLS and name not in self.functions else ""
            case ast.Attribute(value=ast.Name(id="torch"), attr=name) if name in TORCH_INTERNALS:
                return f"torch.{name}"
            case ast.Attribute(attr=name) | ast.Name(id=name):
                pass
            case ast.Constant(value=str(name)):
                pass
        return name if name in HIDING_NAMES else ""


def _name_in_quotes(node: ast.AST) -> str | None:
    """Return what is looked up by name: `getattr(torch, "exp")`, `vars(torch)["exp"]`, `torch.__dict__["exp"]`."""
    if isinstance(node, ast.Subscript):
        names = _last_name(node.value) in ("vars", "globals", "__dict__")
        return _text_of(node.slice) if names else None
    if isinstance(node, ast.Call) and _last_name(node) in ("getattr", "__getattribute__", "attrgetter", "methodcaller"):
        return next((text.rpartition(".")[2] for argument in node.args if (text := _text_of(argument))), None)
    return None


def _last_name(node: ast.AST) -> str:
    """Return `f` for `f`, `a.f` and `a.f(...)`."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _text_of(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _is_hiding_module(module: str) -> bool:
    first, _, second = module.partition(".")
    return first in HIDING_MODULES or (first == "torch" and second.partition(".")[0] in TORCH_INTERNALS)
