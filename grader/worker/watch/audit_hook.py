"""Refuse by an audit hook what ends the watch over calls, or leads to it: Python lets nobody take one away.

Whoever reads the source knows the names that stand there, and the watch those of what is called. What makes names while
it runs, and reaches the interpreter with them, has to pass here first: to end the profiler, to look for the objects of
the watch, to start a thread that has none, to make code of a text, whoever runs it, or to reach the memory.
"""

from __future__ import annotations

import ast
import collections
import dataclasses
import sys
import threading
import traceback
import typing
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from grader.worker.watch.call_monitor import CallRecord, ForbiddenCall, library_folders, packages_folder, watch

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
# but for functions of libraries that keep it: warnings and classes look for their module
FRAME, HANDING_ON = "sys._getframe", frozenset({"currentframe", "stack", "walk_stack", "<lambda>"})
# of objects: frames, but for what prints a traceback, since they lead to our own objects, and a function's code
READ, WRITTEN = "object.__getattr__", "object.__setattr__"
DOORS_OF_OBJECTS = {READ: ("tb_frame", "gi_frame", "cr_frame", "ag_frame"), WRITTEN: ("__code__",)}
OUR_FOLDER = str(Path(__file__).parents[1])
# it sets a tracer: to be told of, since who runs it knows of none
DOCTEST = str(Path(traceback.__file__).with_name("doctest.py"))
OF_IMPORTS = "<frozen importlib"  # what Python calls the modules that import
IMPORTING: CodeType = sys.modules["_frozen_importlib"]._find_and_load.__code__
# of texts they make a class of nothing but names, a tree, and an annotation that nobody evaluates
FROM_TEXTS = frozenset({
    collections.namedtuple.__code__, ast.parse.__code__, typing.ForwardRef.__init__.__code__,
})  # fmt: skip
OF_DATACLASSES: CodeType = vars(dataclasses)["_process_class"].__code__
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
    own, printing = frozenset(_codes_of_ours()), (traceback.__file__, packages_folder())
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
        try:
            passes = may_pass(event, arguments, _caller())
            by_doctest = not passes and _caller().f_code.co_filename == DOCTEST
        finally:
            asks = False
        if not passes:
            name = f"object.{arguments[1]}" if event in DOORS_OF_OBJECTS else event
            name = "doctest" if by_doctest else name if "." in name else f"builtins.{name}"
            told.append(name)
            raise ForbiddenCall(name)

    def may_pass(event: str, arguments: Any, caller: FrameType) -> bool:
        code = caller.f_code
        if event in FOR_US:
            return code in own
        if event == FRAME or event in FOR_IMPORTS:
            may_make = _keeps_frame if event == FRAME else _makes_of_names
            is_ours = code.co_filename.startswith(OUR_FOLDER) or may_make(caller)
            return is_ours or (_is_import(caller, files_of_learners) and _is_of_file(event, arguments, code))
        return event == READ and code.co_filename.startswith(printing)

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
        return type(source) is bytes and Path(path).is_file() and source == Path(path).read_bytes()
    return event == "exec" and arguments[0].co_filename != "<string>"


def _keeps_frame(caller: FrameType) -> bool:
    """Return True if a library's function asks for a frame itself, and hands it to nobody outside of its file."""
    code, asker = caller.f_code, caller.f_back
    is_asked = "_getframe" in code.co_names and code.co_filename.startswith(library_folders())
    return is_asked and (
        code.co_name not in HANDING_ON or (asker is not None and asker.f_code.co_filename == code.co_filename)
    )


def _makes_of_names(caller: FrameType) -> bool:
    """Return True for a text that a library has put together, where nothing but names comes from elsewhere."""
    frame: FrameType | None = caller
    while frame is not None and frame.f_code.co_filename == dataclasses.__file__:
        if frame.f_code is OF_DATACLASSES:
            fields = frame.f_locals["fields"].values()
            return all(type(each) is dataclasses.Field and _is_name(each.name) for each in fields)
        frame = frame.f_back
    return caller.f_code in FROM_TEXTS


def _is_name(name: object) -> bool:
    return type(name) is str and name.isidentifier()  # a kind of `str` could write another text


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
    functions: list[Any] = [
        watch.__wrapped__,  # type: ignore[attr-defined]
        CallRecord.__enter__,
        CallRecord.__exit__,
        threading.Thread.start,
        threading.Thread._bootstrap_inner,  # type: ignore[attr-defined]
    ]
    return [function.__code__ for function in functions]
