"""Run a module without those statements of its top level that call what the lesson forbids.

A function is watched when it is called. What a statement at the top level keeps of a forbidden call, such as a trace of
autograd's way back, nobody would see in the calls. A trial at a file's end that compares with the forbidden function is
left out as well, and the module works without it.
"""

from __future__ import annotations
import __future__

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from traceback import walk_tb
from typing import Any

from grader.worker.call_monitor import AUTOGRAD, ForbiddenCall, is_watched, watch

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def run_watched(tree: ast.Module, path: str, namespace: dict[str, Any], forbids: tuple[str, ...]) -> None:
    """Run a module statement by statement, and none that makes a forbidden call further than to that call.

    A later statement that cannot do without it may end in an error; that is left out, too, unless it defines something.

    Raises:
        ForbiddenCall: The call was refused where the module's own code may have gone on unwatched.
    """
    flags, refused = _future_flags(tree), list[ForbiddenCall]()
    for statement in tree.body:
        code = compile(ast.Module([statement], []), path, "exec", flags, dont_inherit=True)
        seen: list[str] = []
        try:
            with _watched(forbids, seen):
                exec(code, namespace)
        except ForbiddenCall as error:
            refused.append(error)  # kept, for what its frames hold is not to end unwatched
        except Exception:
            if not (refused or seen) or isinstance(statement, DEFINITIONS):
                raise
        if seen:
            if not refused or not _ended_at_once(refused[-1]):
                raise ForbiddenCall(seen[0])
            print(f"{path}:{statement.lineno} is not run: it calls `{seen[0]}`, which is forbidden in this lesson.")
    if refused:
        with _watched(forbids, []):
            refused.clear()


def _ended_at_once(refused: ForbiddenCall) -> bool:
    """Return True if nothing ran after a refusal: no frame on the way has a `try`, a `with` or the like.

    Python takes the profiler away when it raises an error.
    """
    codes = [frame.f_code for frame, _ in walk_tb(refused.__traceback__)][1:]  # the first is ours
    codes = [code for code in codes if code.co_filename != ForbiddenCall.__init__.__code__.co_filename]
    if is_watched(codes[-1]):  # it was not even begun
        codes.pop()
    return not any(code.co_exceptiontable for code in codes)


def _future_flags(tree: ast.Module) -> int:
    """Return what the module's `from __future__` asks of the compiler for all that comes behind."""
    asked = [alias.name for each in tree.body if isinstance(each, ast.ImportFrom) for alias in each.names]
    found = [getattr(__future__, name).compiler_flag for name in asked if name in __future__.all_feature_names]
    return sum({*found})


@contextmanager
def _watched(forbids: tuple[str, ...], seen: list[str]) -> Iterator[None]:
    """Refuse forbidden calls, and that torch goes back along a graph, whoever calls that: it asks for what it saved."""
    if "torch" not in sys.modules or sys.getprofile():  # the second: of another file that is imported
        with watch(forbids, seen):
            yield
        return
    import torch

    def refuse(_tensor: Any) -> Any:
        seen.append(AUTOGRAD)
        raise ForbiddenCall(AUTOGRAD)

    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, refuse), watch(forbids, seen):
        yield
