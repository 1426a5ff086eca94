"""Turn a learner's source text, which came over the wire, into a module. No file of theirs is opened."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import io
import linecache
import random
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from types import CodeType, ModuleType
from typing import Any

from grader.worker.main_guard import disarm_main_guard, may_have_main_guard
from grader.worker.preload import SEED
from grader.worker.watch.cut_off import cut_off
from grader.worker.watch.own_lookups import OwnLookups
from grader.worker.watch.rewritten_lookups import may_look_up
from grader.worker.watch.watched_import import WatchedImport
from grader.worker.watch.watched_source import HOOK, Watcher, hook_expressions

OF_BUILD = "_sysconfigdata"  # how Python was built: the rest of the name says for what, and `sysconfig` imports it


def load(
    name: str,
    path: str,
    source: str,
    siblings: dict[str, Any],
    device: str = "cpu",
    watched: bool = False,
    importing: WatchedImport | None = None,
    lookups: OwnLookups | None = None,
) -> dict[str, Any]:
    """Compile and run *source* as the module *name*, and return its namespace.

    *siblings* maps a module name to [path, source]: the learner's other lessons, which it may import; an installed
    package of the same name comes first. Every random generator starts anew. A *watched* module has a hook round each
    of its expressions. *importing* runs the top level in the place of `exec`, and may raise CallsForbidden. *lookups*
    take the places of Python's own.
    """
    _unload_earlier()
    seed_generators(device)
    runs = {other: _make_runner(where, text, importing, lookups) for other, (where, text) in siblings.items()}
    sys.meta_path.append(_Siblings(name, {other: where for other, (where, _) in siblings.items()}, runs))
    module = ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    if watched:
        exec(_compile_watched(path, source, module.__dict__), module.__dict__)
    else:
        _run(path, source, module.__dict__, importing, lookups)
    if importing:
        importing.end()
    return module.__dict__


def _run(
    path: str, source: str, namespace: dict[str, Any], importing: WatchedImport | None, lookups: OwnLookups | None
) -> None:
    code = _compile(path, source)
    if lookups:
        lookups.prepare(namespace)
    rewrites = lookups if lookups and may_look_up(source) else None
    if not (importing or rewrites):
        exec(code, namespace)
        return
    tree = ast.parse(source, path)
    disarm_main_guard(tree, source)
    if rewrites:
        rewrites.rewrite(tree)
    if importing:
        importing.run(tree, path, namespace)
    else:
        exec(compile(tree, path, "exec", dont_inherit=True), namespace)


def _compile_watched(path: str, source: str, namespace: dict[str, Any]) -> CodeType:
    _compile(path, source)  # for tracebacks; and an error in it is told as ever
    tree, places = hook_expressions(source)
    namespace[HOOK] = Watcher(places)
    return compile(tree, path, "exec", dont_inherit=True)


def _unload_earlier() -> None:
    """Remove an earlier lesson of this process, and the siblings that it imported."""
    for finder in [finder for finder in sys.meta_path if isinstance(finder, _Siblings)]:
        sys.meta_path.remove(finder)
        for name in (finder.lesson, *finder.paths):
            sys.modules.pop(name, None)


def _compile(path: str, source: str) -> CodeType:
    lines = io.StringIO(source, newline="").readlines()  # as Python counts; `splitlines` knows other ends
    linecache.cache[path] = (len(source), None, lines, path)  # for tracebacks and inspect
    try:
        return compile(_disarmed(path, source), path, "exec", dont_inherit=True)
    except (MemoryError, RecursionError):  # the parser's limits, reached long before memory runs out
        raise SyntaxError("the source is nested too deeply", (path, 1, None, None)) from None
    except (SyntaxError, ValueError) as error:
        if "\0" not in source:
            raise
        line = source[: source.find("\0")].count("\n") + 1  # Python names none
        raise SyntaxError(str(error), (path, line, None, None)) from None


def _disarmed(path: str, source: str) -> str | ast.Module:
    """Return a source that starts nothing of itself, whatever name its module is given."""
    if not may_have_main_guard(source):
        return source
    tree = ast.parse(source, path)
    return tree if disarm_main_guard(tree, source) else source


def seed_generators(device: str = "cpu", number: int = 0, of_torch_alone: bool = False) -> None:
    """Seed every random generator that a learner's code may use, with one of several seeds.

    Args:
        of_torch_alone: No other is used; to seed those takes ten times as long.
    """
    seed = SEED + number
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if not of_torch_alone:
        random.seed(seed)
        if numpy is not None:
            numpy.random.seed(seed)
    if torch is not None and device == "cpu":
        torch.default_generator.manual_seed(seed)  # `torch.manual_seed` asks every kind of device (1 ms)
    elif torch is not None:
        torch.manual_seed(seed)


Runner = Callable[[dict[str, Any]], BaseException | None]


def _make_runner(path: str, source: str, importing: WatchedImport | None, lookups: OwnLookups | None) -> Runner:
    """Return a function in C that runs a source in the namespace it is given, and returns what that raised.

    Whoever reaches a function of ours by an import's finder would have our modules. A generator's frame is guarded.
    """

    def runs() -> Generator[BaseException | None, dict[str, Any], None]:
        raised: BaseException | None = None
        while True:
            namespace = yield raised
            try:
                _run(path, source, namespace, importing, lookups)
                raised = None
            except BaseException as error:
                raised = error

    runner = runs()
    next(runner)
    return runner.send


class _Siblings(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Find the learner's other lessons, after everything else, so that `torch.py` beside a lesson shadows nothing."""

    @cut_off()
    def __init__(self, lesson: str, paths: dict[str, str], runs: dict[str, Runner]) -> None:
        self.lesson, self.paths, self.runs = lesson, paths, runs

    @cut_off(importlib=importlib)
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self.paths:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=self.paths[fullname])

    @cut_off()
    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = self.paths[module.__name__]
        if raised := self.runs[module.__name__](module.__dict__):
            raise raised


def hide_unreadable(readable: Iterable[str]) -> None:
    """Let Python find no package but these: an import of another then fails as where it is not installed.

    Beside the standard library lie modules that are no part of it (`test`), which nobody has read.
    """
    places = [path.rpartition("/") for path in readable]
    library = {folder for folder, _, name in places if name == "os.py"}
    shown = {name.partition(".")[0] for folder, _, name in places if folder not in library or name.startswith(OF_BUILD)}
    _Shown.names = _Shown.names | shown
    finder = importlib.machinery.PathFinder
    if finder in sys.meta_path:
        sys.meta_path[sys.meta_path.index(finder)] = _Shown


class _Shown(importlib.machinery.PathFinder):
    """Finds top-level modules of the standard library, and of packages that may be read."""

    names: frozenset[str] = sys.stdlib_module_names

    @classmethod
    @cut_off()
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        shown = path is not None or fullname in cls.names
        return super().find_spec(fullname, path, target) if shown else None
