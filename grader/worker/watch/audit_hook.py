"""Refuse by an audit hook what ends the watch over calls, or leads to it: Python lets nobody take one away.

Whoever reads the source knows the names that stand there, and the watch those of what is called. What makes names while
it runs, and reaches the interpreter with them, has to pass here first: to end the profiler, to look for the objects of
the watch, to start a thread that has none, to make code of a text, whoever runs it, or to reach the memory.
"""

from __future__ import annotations

import builtins
import io
import sys
import threading
import traceback
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from grader.worker.watch.call_monitor import SEALED, ForbiddenCall, watch
from grader.worker.watch.call_record import CallRecord, begin_monitoring, end_monitoring
from grader.worker.watch.library_uses import may_use

# a learner may put others in their places, and would be called where this hook calls them
__builtins__ = dict(vars(builtins))  # type: ignore[assignment]
OPEN = io.open

# in an answer, for anybody
NEVER = frozenset({
    "gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys._current_frames", "sys._current_exceptions",
    "sys.addaudithook", "code.__new__", "pickle.find_class",
    # what `ctypes` reads, writes and calls; no library does while it is imported
    "ctypes.dlsym", "ctypes.dlsym/handle", "ctypes.cdata", "ctypes.cdata/buffer", "ctypes.addressof",
    "ctypes.call_function", "ctypes.string_at", "ctypes.wstring_at", "ctypes.memoryview_at", "ctypes.PyObj_FromPtr",
})  # fmt: skip
# but for the watch itself, and for `Thread`, which hands it on
FOR_US = frozenset({
    "sys.setprofile", "sys.settrace", "sys.monitoring.register_callback", "_thread.start_new_thread",
    "_thread.start_joinable_thread",
})  # fmt: skip
# but while a library is imported: code out of a text or of other code, and a library in C
FOR_IMPORTS = frozenset({"exec", "compile", "function.__new__", "ctypes.dlopen"})
# but for the functions of Python's own library in `library_uses`
FRAME = "sys._getframe"
# of objects: frames, but for what prints a traceback, since they lead to our own objects, and a function's code
READ, WRITTEN = "object.__getattr__", "object.__setattr__"
DOORS_OF_OBJECTS = {READ: ("tb_frame", "gi_frame", "cr_frame", "ag_frame"), WRITTEN: ("__code__",)}
OUR_FOLDER = str(Path(__file__).parents[1])
# it sets a tracer: to be told of, since who runs it knows of none
DOCTEST = str(Path(traceback.__file__).with_name("doctest.py"))
OF_IMPORTS = "<frozen importlib"  # what Python calls the modules that import
IMPORTING: CodeType = sys.modules["_frozen_importlib"]._find_and_load.__code__
STARTING, STARTED = threading.Thread.start.__code__, vars(threading.Thread)["_bootstrap_inner"].__code__
OF_THREADS = vars(threading)
STARTS = {name: OF_THREADS[name] for name in ("_start_new_thread", "_start_joinable_thread") if name in OF_THREADS}
SET_PROFILE, SYS = sys.setprofile, sys
Guard = Callable[[Collection[str], list[str] | None], None]

_guard: Guard | None = None


def guard_watch(files: Collection[str], seen: list[str] | None) -> None:
    """From now on refuse what ends the watch, and append its name to *seen*; with None refuse nothing.

    Args:
        files: The paths of the learner's code, which never has this called, by whomsoever.
    """
    global _guard
    if _guard is None and seen is not None:
        _guard = _install()
    if _guard is not None:
        _guard(files, seen)


def _install() -> Guard:
    own = _codes_of_ours()
    watched = NEVER | FOR_US | FOR_IMPORTS | {FRAME} | DOORS_OF_OBJECTS.keys()
    files_of_learners: set[str] = set()
    told: list[str] | None = None
    asks = False

    def hook(event: str, arguments: Any) -> None:
        nonlocal asks
        if event not in watched or told is None or asks:
            return
        if event in DOORS_OF_OBJECTS and arguments[1] not in DOORS_OF_OBJECTS[event]:
            return
        asks = True
        caller = _caller()
        asks = False
        if not may_pass(event, arguments, caller):
            name = f"object.{arguments[1]}" if event in DOORS_OF_OBJECTS else event
            by_doctest = caller.f_code.co_filename == DOCTEST
            name = "doctest" if by_doctest else name if "." in name else f"builtins.{name}"
            told.append(name)
            raise ForbiddenCall(name)

    def may_pass(event: str, arguments: Any, caller: FrameType) -> bool:
        code = caller.f_code
        if event in FOR_US:
            return any(code is each for each in own) or _hands_watch_on(event, caller)  # another's code may equal it
        if event == FRAME or event in FOR_IMPORTS:
            is_ours = code.co_filename.startswith(OUR_FOLDER) or may_use(event, caller)
            return is_ours or (_is_import(caller, files_of_learners) and _is_of_file(event, arguments, code))
        return event == READ and (code.co_filename.startswith(OUR_FOLDER) or may_use(event, caller))

    def guard(files: Collection[str], seen: list[str] | None) -> None:
        nonlocal told, asks
        asks = True
        is_learners = any(code.co_filename in files_of_learners for code in _codes_below(_caller()))
        asks = False
        if told is not None and is_learners:
            told.append("sys.addaudithook")
            raise ForbiddenCall("sys.addaudithook")
        files_of_learners.update(files)
        told = seen

    sys.addaudithook(hook)
    return guard


def _is_import(caller: FrameType, learners: Collection[str]) -> bool:
    """Return True while a module is imported, and no line of the learner's runs for it."""
    for code in _codes_below(caller):
        if code is IMPORTING or code.co_filename in learners:
            return code is IMPORTING
    return False


def _is_of_file(event: str, arguments: Any, code: CodeType) -> bool:
    """Return False where an import itself runs what comes of no file: a finder of the learner's may hand it a text."""
    if not code.co_filename.startswith(OF_IMPORTS):
        return True
    if event == "compile":
        source, path = arguments
        return type(source) is bytes and type(path) is str and source == _bytes_of(path)
    return event == "exec" and arguments[0].co_filename != "<string>"


def _bytes_of(path: str) -> bytes | None:
    try:
        with OPEN(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def _hands_watch_on(event: str, caller: FrameType) -> bool:
    """Return True for a thread that starts, by `Thread` as it always was, with the profiler that `watch` has set."""
    code = caller.f_code
    if code is STARTING:
        is_start = event.startswith("_thread.")
        return is_start and all(OF_THREADS.get(name) is start for name, start in STARTS.items())
    is_profiler = code is STARTED and event == "sys.setprofile" and type(OF_THREADS["_profile_hook"]) is SEALED
    return is_profiler and OF_THREADS["_sys"] is SYS and vars(SYS)["setprofile"] is SET_PROFILE


def _codes_below(caller: FrameType) -> Iterator[CodeType]:
    """Yield the code of a call that runs, and of each that has led to it."""
    frame: FrameType | None = caller
    while frame is not None:
        yield frame.f_code
        frame = frame.f_back


def _caller() -> FrameType:
    """Return the frame that the hook was called in; `sys._getframe` would call the hook again."""
    try:
        raise LookupError
    except LookupError as error:
        frame = error.__traceback__.tb_frame.f_back.f_back  # type: ignore[union-attr]
    assert frame is not None
    return frame


def _codes_of_ours() -> list[CodeType]:
    entered = [watch.__enter__, watch.__exit__, CallRecord.__enter__, CallRecord.__exit__]
    return [function.__code__ for function in (*entered, begin_monitoring, end_monitoring)]
