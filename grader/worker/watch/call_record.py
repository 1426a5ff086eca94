"""Note what is called, without a line of Python for each call, and notice where somebody has ended that."""

from __future__ import annotations

import builtins
import sys
from _lsprof import Profiler
from collections.abc import Callable
from types import CodeType
from typing import Any

from grader.worker.watch.call_monitor import (
    CO_OPTIMIZED,
    GET_PROFILE,
    entry_in,
    library_folders,
    name_of,
    turns_an_axis,
    watched_places,
)

# a learner may put others in their places
__builtins__ = dict(vars(builtins))  # type: ignore[assignment]
MONITORING: Any = getattr(sys, "monitoring", None)  # of Python 3.12 and later
# these end a record, and no event of the audit tells it; the others only ask
ENDING = (
    "use_tool_id", "free_tool_id", "clear_tool_id", "register_callback", "set_events", "set_local_events",
    "restart_events",
)  # fmt: skip
TOOL, NAME = 2, "watch"
IN_C = "builtins.hash"  # what `leave_mark` calls


class CallRecord:
    """Notes what is called in its context, in this thread, and refuses nothing.

    No Python runs for each call, as it does for `watch`: a call takes a third less time.

    Attributes:
        refused: What else refused meanwhile.
    """

    def __init__(self) -> None:
        self._profiler: Any = Profiler(subcalls=False, builtins=True)
        self._entered, self._is_whole = 0, True
        self.refused: list[str] = []

    def __enter__(self) -> None:
        self._entered += 1
        begin(self._profiler)

    def __exit__(self, *_: object) -> None:
        leave_mark()
        if end(self._profiler) is False:
            self._is_whole = False

    def may_hold(self, forbids: tuple[str, ...]) -> bool:
        """Return False if `watch` would have refused none of the calls; it decides about the others."""
        entries = self._profiler.getstats()
        if self.refused or not self._is_whole or not self._has_all_marks(entries):
            return True
        called = [entry.code for entry in entries]
        names = [
            code if isinstance(code, str) else name_of(code, library_folders())
            for code in called
            if isinstance(code, str) or _is_watched(code)
        ]
        text = "\n0\n".join(name for name in names if not turns_an_axis(name))  # the number keeps their words apart
        return entry_in(text, forbids) is not None

    def _has_all_marks(self, entries: list[Any]) -> bool:
        """Return False if calls are missing that were made at each end: nobody was told of them, or they are erased."""
        of_python = sum(each.callcount for each in entries if each.code is MARK)
        of_c = sum(each.callcount for each in entries if isinstance(each.code, str) and IN_C in each.code)
        return bool(of_python >= self._entered <= of_c)


def leave_mark() -> None:
    """Make one call of Python's and one in C, which a record has to hold."""
    hash(None)


MARK: CodeType = leave_mark.__code__


def _is_watched(code: CodeType) -> bool:
    """Return True for a library's function. The body of a module or class, which an import runs, is given nothing."""
    return bool(code.co_flags & CO_OPTIMIZED) and code.co_filename.startswith(watched_places())


def begin_monitoring(profiler: Any) -> None:
    """Do what `Profiler.enable` does, by functions that nobody else can come by (`take_away`)."""
    use_tool_id(TOOL, NAME)
    for event, method in CALLBACKS:
        register_callback(TOOL, event, getattr(profiler, method))
    set_events(TOOL, EVENTS)


def end_monitoring(_profiler: Any) -> bool:
    """End what `begin_monitoring` began, and return whether nobody has before."""
    goes_on: bool = get_tool(TOOL) == NAME and get_events(TOOL) == SET
    if get_tool(TOOL) is None:
        return False
    set_events(TOOL, 0)
    for event, _ in CALLBACKS:
        register_callback(TOOL, event, None)
    free_tool_id(TOOL)
    return goes_on


class _Rehearsal:
    """Stands in the place of `sys.monitoring` while a profiler says what it wants to be told of."""

    def __init__(self) -> None:
        self.callbacks: list[tuple[int, str]] = []
        self.events = 0

    def use_tool_id(self, *_: object) -> None:
        """Let it be in use."""

    free_tool_id = use_tool_id

    def register_callback(self, _tool: int, event: int, callback: Any) -> None:
        """Note the name of the profiler's method."""
        if callback is not None:
            self.callbacks.append((event, callback.__name__))

    def set_events(self, _tool: int, events: int) -> None:
        """Note all events, which are set once."""
        self.events = self.events or events


def _rehearse() -> _Rehearsal:
    profiler, rehearsal = Profiler(subcalls=False, builtins=True), _Rehearsal()
    module: Any = sys
    module.monitoring = rehearsal
    try:
        profiler.enable()
        profiler.disable()
    finally:
        module.monitoring = MONITORING
    return rehearsal


begin: Callable[[Any], None] = begin_monitoring if MONITORING else Profiler.enable
end: Callable[[Any], bool | None] = end_monitoring if MONITORING else Profiler.disable
if MONITORING:
    use_tool_id, free_tool_id, register_callback, set_events, get_events, get_tool = (
        getattr(MONITORING, name)
        for name in ("use_tool_id", "free_tool_id", "register_callback", "set_events", "get_events", "get_tool")
    )
    rehearsed = _rehearse()
    CALLBACKS, EVENTS = rehearsed.callbacks, rehearsed.events
    SET = EVENTS & ~(MONITORING.events.C_RETURN | MONITORING.events.C_RAISE)  # what it answers: these come with CALL


def take_away(objects: Callable[[], list[Any]]) -> None:
    """Take out of `sys` for good what hands the profiler out or ends a record, and which no event of the audit tells.

    To be done in a process that runs learners' code, or forks others that do, and while it holds few objects.

    Args:
        objects: `gc.get_objects`. Python keeps a copy of the names in `sys`, of which it makes that module again.
    """
    for names in [each for each in objects() if type(each) is dict and each.get("getprofile") is GET_PROFILE]:
        names["getprofile"] = sys.gettrace  # gives None: nobody can set a tracer
    for name in ENDING if MONITORING else ():
        vars(MONITORING).pop(name, None)
