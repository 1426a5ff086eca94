"""Run a module without those statements of its top level that call what the lesson forbids.

A function is watched when it is called. What a statement at the top level keeps of a forbidden call, such as a trace of
autograd's way back, nobody would see in the calls. So the load ends there, and begins anew in another process without
that statement: whatever else it did is gone. A trial at a file's end that compares with the forbidden function is left
out in the same way, and the module works without it.
"""

from __future__ import annotations
import __future__

import ast
import sys
from collections.abc import Mapping
from typing import Any

from grader.worker.watch.call_monitor import AUTOGRAD, ForbiddenCall, is_watched, watch
from grader.worker.watch.cut_off import cut_off
from grader.worker.watch.graph import graph_at_start, refuse_autograd

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
Place = tuple[str, int]  # a file, a line


class CallsForbidden(ForbiddenCall):
    """Raised where a statement has called what is forbidden, with file, line, and name; only the load catches it."""


class WatchedImport:
    """One load of a file and of those that it imports.

    Args:
        without: The statements that are not run, by file and line, with what each calls.
        blocked: Takes what operators were refused, and is emptied.
    """

    def __init__(self, forbids: tuple[str, ...], without: Mapping[Place, str], blocked: list[str]) -> None:
        self.forbids, self.without, self.blocked = forbids, without, blocked
        self.found: list[CallsForbidden] = []

    def run(self, tree: ast.Module, path: str, namespace: dict[str, Any]) -> None:
        """Run a module statement by statement.

        A statement that cannot do without an earlier one may end in an error; that is left out, too, unless it defines
        something.

        Raises:
            CallsForbidden: A statement has called what is forbidden, whatever became of that.
        """
        flags, is_whole = _future_flags(tree), True
        for statement in tree.body:
            if name := self.without.get((path, statement.lineno)):
                print(f"{path}:{statement.lineno} is not run: it calls `{name}`, which is forbidden in this lesson.")
                is_whole = False
                continue
            code = compile(ast.Module([statement], []), path, "exec", flags, dont_inherit=True)
            seen: list[str] = []
            raised: BaseException | None = None
            try:
                with _watched(self.forbids, seen):
                    exec(code, namespace)
            except BaseException as error:
                raised = error
            self.found += [CallsForbidden(path, statement.lineno, name) for name in (*seen, *self.blocked)[:1]]
            self.blocked.clear()
            self.end()
            may_depend = not is_whole and not isinstance(statement, DEFINITIONS) and isinstance(raised, Exception)
            if raised is not None and not may_depend:
                raise raised

    def end(self) -> None:
        """Raise CallsForbidden if a statement has called what is forbidden: another may have caught that."""
        if self.found:
            raise self.found[0]


def _future_flags(tree: ast.Module) -> int:
    """Return what the module's `from __future__` asks of the compiler for all that comes behind."""
    asked = [alias.name for each in tree.body if isinstance(each, ast.ImportFrom) for alias in each.names]
    found = [getattr(__future__, name).compiler_flag for name in asked if name in __future__.all_feature_names]
    return sum({*found})


class _watched:  # noqa: N801  used as a function
    """Refuse forbidden calls, and that torch goes back along a graph, whoever calls that: it asks for what it saved."""

    def __init__(self, forbids: tuple[str, ...], seen: list[str]) -> None:
        # the last: of another file that is imported
        self._keeps_none = AUTOGRAD in forbids and "torch" in sys.modules and not is_watched()
        self._seen, self._watch = seen, watch(forbids, seen)

    def __enter__(self) -> None:
        if self._keeps_none:
            graph_at_start()[0](cut_off()(lambda tensor: tensor), refuse_autograd(self._seen))
        self._watch.__enter__()

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            self._watch.__exit__(kind)
        finally:
            if self._keeps_none:
                graph_at_start()[1]()
