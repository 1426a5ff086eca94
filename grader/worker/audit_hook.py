"""Refuse by an audit hook what ends the watch over calls, or leads to it: Python lets nobody take one away.

Whoever reads the source knows the names that stand there, and the watch those of what is called. What makes names while
it runs, and reaches the interpreter with them, has to pass here first: to end the profiler, to look for the objects of
the watch, to start a thread that has none, or to make code of a text.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection
from types import CodeType, FrameType
from typing import Any

from grader.worker.call_monitor import CallRecord, ForbiddenCall, watch

# in an answer, for anybody
NEVER = frozenset({
    "gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys._current_frames", "sys._current_exceptions",
    "sys.addaudithook", "code.__new__", "pickle.find_class",
})  # fmt: skip
# but for the watch itself, and for `Thread`, which hands it on
FOR_US = frozenset({
    "sys.setprofile", "sys.settrace", "sys.monitoring.register_callback", "_thread.start_new_thread",
    "_thread.start_joinable_thread",
})  # fmt: skip
# but for libraries, which make classes and warnings so
FOR_LIBRARIES = frozenset({"exec", "compile", "sys._getframe"})
Guard = Callable[[Collection[str], list[str] | None], None]

_guard: Guard | None = None


def guard_watch(files: Collection[str], seen: list[str] | None) -> None:
    """From now on refuse what ends the watch, and append its name to *seen*; with None refuse nothing.

    Args:
        files: The paths of the learner's code, if it may run no text and take no frame.
    """
    global _guard
    if _guard is None and seen is not None:
        _guard = _install()
    if _guard is not None:
        _guard(files, seen)


def _install() -> Guard:
    own = frozenset(_codes_of_ours())
    watched = NEVER | FOR_US | FOR_LIBRARIES
    of_learner: Collection[str] = ()
    told: list[str] | None = None

    def hook(event: str, _arguments: Any) -> None:
        if event not in watched or told is None:
            return
        code = _caller().f_code
        if event in FOR_US and code in own:
            return
        if event in FOR_LIBRARIES and code.co_filename not in of_learner:
            return
        name = event if "." in event else f"builtins.{event}"
        told.append(name)
        raise ForbiddenCall(name)

    def guard(files: Collection[str], seen: list[str] | None) -> None:
        nonlocal of_learner, told
        of_learner, told = files, seen

    sys.addaudithook(hook)
    return guard


def _caller() -> FrameType:
    """Return the frame that the hook was called in; `sys._getframe` would call the hook again."""
    try:
        raise LookupError
    except LookupError as error:
        frame = error.__traceback__.tb_frame.f_back.f_back  # type: ignore[union-attr]
    assert frame is not None
    return frame


def _codes_of_ours() -> list[CodeType]:
    functions: list[Any] = [
        watch.__wrapped__,  # type: ignore[attr-defined]
        CallRecord.__enter__,
        CallRecord.__exit__,
        threading.Thread.start,
        threading.Thread._bootstrap_inner,  # type: ignore[attr-defined]
    ]
    return [function.__code__ for function in functions]
