"""Which functions of Python's own library may take a frame, or make code of a text, where calls are forbidden.

They take the name of a module from the frame, print it, or read of it where a log was written; their texts have nothing
but names in them. Each may by the one instruction that it has for that: an object of a learner's that is given to such
a function could do it by another one, and keep what it gets. And each may while what it calls by name is what it was:
a learner could have put another in its place, which would be handed the frame.
"""

from __future__ import annotations

import ast
import builtins
import collections
import dataclasses
import dis
import enum
import linecache
import logging
import sys
import traceback
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise, product
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

# a learner may put others in their places
__builtins__ = dict(vars(builtins))  # type: ignore[assignment]
FRAME, READ, COMPILE, EXEC = "sys._getframe", "object.__getattr__", "compile", "exec"
NEXT = ""  # in a step: the next one of a loop
MISSING = object()
OF_PYTHON = vars(builtins)
OF_DATACLASSES: CodeType = vars(dataclasses)["_process_class"].__code__
FILE_OF_DATACLASSES = dataclasses.__file__

Step = tuple[CodeType, frozenset[int]]  # a function, and the instructions by which it goes on to the next one
Names = tuple[Mapping[str, Any], dict[str, Any]]  # where names stand, and what they mean


def may_use(event: str, caller: FrameType) -> bool:
    """Return True if a function of Python's own may do this, and does it by itself."""
    for steps, used in ways().get((event, id(caller.f_code)), ()):
        if _is_on_its_way(steps, caller) and _is_unchanged(used):
            return caller.f_code.co_filename != FILE_OF_DATACLASSES or _has_plain_fields(caller)
    return False


def _is_on_its_way(steps: tuple[Step, ...], caller: FrameType) -> bool:
    frame: FrameType | None = caller
    for code, places in steps:
        if frame is None or frame.f_code is not code or frame.f_lasti not in places:
            return False
        frame = frame.f_back
    return True


def _is_unchanged(used: list[Names]) -> bool:
    """Return True if all names mean what they did. A key of another type could run code where it is compared."""
    return all(
        set(map(type, names)) == {str} and all(names.get(name, MISSING) is value for name, value in meant.items())
        for names, meant in used
    )


def _has_plain_fields(caller: FrameType) -> bool:
    """Return True for the text of a class of data, where nothing but names comes from elsewhere."""
    frame: FrameType | None = caller
    while frame is not None and frame.f_code.co_filename == FILE_OF_DATACLASSES:
        if frame.f_code is OF_DATACLASSES:
            fields = frame.f_locals["fields"].values()
            return all(type(each) is FIELD and _is_name(each.name) for each in fields)
        frame = frame.f_back
    return False


FIELD = dataclasses.Field


def _is_name(name: object) -> bool:
    return type(name) is str and name.isidentifier()  # a kind of `str` could write another text


@cache
def ways() -> dict[tuple[str, int], list[tuple[tuple[Step, ...], list[Names]]]]:
    """Return, by event and function, by which steps it may come to that, the last of them first, and what it uses."""
    found: dict[tuple[str, int], list[tuple[tuple[Step, ...], list[Names]]]] = {}
    for event, steps, uses in (*_for_names(), *_for_printing(), *_for_texts()):
        made = tuple(_step(_code_of(function), name) for function, name in steps)
        found.setdefault((event, id(made[0][0])), []).append((made, _names_used(uses)))
    return found


Way = tuple[
    str, list[tuple[Any, str]], list[Any]
]  # the event, functions with what they call, all that has to be as ever


def _for_names() -> Iterator[Way]:
    """Who looks for the module that a class is made in."""
    of_typing = _members(typing, "_caller")
    if (extensions := sys.modules.get("typing_extensions")) is not None:  # which `typing` itself calls then
        of_typing += _members(extensions, "_caller", "_has_generic_or_protocol_as_origin")
    for function in (collections.namedtuple, *_members(enum.EnumMeta, "_create_"), *of_typing):
        if "_getframe" in _code_of(function).co_names:
            yield FRAME, [(function, "_getframe")], [function]


def _for_printing() -> Iterator[Way]:
    summary, printed = traceback.StackSummary, traceback.TracebackException
    extracts = _members(summary, "_extract_from_extended_frame_gen")
    walks = _members(traceback, "_walk_tb_with_full_positions")
    uses = [*_functions_of(traceback), summary.extract, *extracts, printed.__init__]
    uses += [traceback.FrameSummary.__init__, linecache.lazycache]
    for function in (traceback.print_stack, traceback.format_stack, traceback.extract_stack):
        yield FRAME, [(function, "_getframe")], uses
    for walk, takes, begins in product(walks, extracts, (printed.__init__, traceback.extract_tb)):
        yield READ, [(walk, "tb_frame"), (takes, NEXT), (begins, takes.__name__)], uses
    yield READ, [(traceback.clear_frames, "tb_frame")], uses
    for suggests in _members(traceback, "_compute_suggestion_error"):  # of Python 3.12
        yield READ, [(suggests, "tb_frame"), (printed.__init__, suggests.__name__)], uses
    logs = [logging.Logger.findCaller, logging.currentframe, *_members(logging, "_is_internal_frame")]
    yield FRAME, [(logging.currentframe, "_getframe"), (logs[0], "currentframe")], [*logs, *uses]


def _for_texts() -> Iterator[Way]:
    """Who makes a class or a tree of a text, or an annotation that nobody evaluates."""
    for event in (COMPILE, EXEC):
        yield event, [(collections.namedtuple, "eval")], [collections.namedtuple]
        builders = _members(dataclasses, "_FuncBuilder")  # of Python 3.13
        for creates in [*_members(dataclasses, "_create_fn"), *(each.add_fns_to_class for each in builders)]:
            yield event, [(creates, "exec")], [creates, *_functions_of(dataclasses)]
    yield COMPILE, [(ast.parse, "compile")], [ast.parse]
    yield COMPILE, [(typing.ForwardRef.__init__, "compile")], [typing.ForwardRef.__init__]


def _members(holder: Any, *names: str) -> list[Any]:
    """Return what a module or class has of these: they are not for everybody, and not in each Python."""
    return [vars(holder)[name] for name in names if name in vars(holder)]


def _code_of(function: Any) -> CodeType:
    code: CodeType = function if isinstance(function, CodeType) else getattr(function, "__func__", function).__code__
    return code


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes_in(each)


def _functions_of(module: ModuleType) -> list[Any]:
    return [
        each for each in vars(module).values() if isinstance(each, FunctionType) and each.__module__ == module.__name__
    ]


@cache
def _step(code: CodeType, name: str) -> Step:
    """Return where *code* reads or calls what is called *name*: a call begins where its function's name stands."""
    found: set[int] = set()
    starts = set()
    instructions = list(dis.get_instructions(code))
    for each, behind in pairwise(instructions):
        start = each.positions and (each.positions.lineno, each.positions.col_offset)
        is_named = each.argval == name and each.opname.startswith("LOAD")
        if each.opname == "FOR_ITER" if name == NEXT else is_named:
            starts.add(start)
        elif name == NEXT or start not in starts or not each.opname.startswith(("PRECALL", "CALL")):
            continue
        elif each.opname != "PRECALL":
            starts.remove(start)  # of the calls that begin here it is the first
        found.update(range(each.offset, behind.offset))  # while it calls, a frame may say that it is at its end
    return code, frozenset(found)


def _names_used(functions: list[Any]) -> list[Names]:
    """Return what these functions look up in their modules, in Python's own names, and in modules and classes there."""
    found: dict[int, Names] = {}
    for function in functions:
        function = getattr(function, "__func__", function)
        for place, name, value in _each_name_used(function.__code__, function.__globals__):
            found.setdefault(id(place), (place, {}))[1][name] = value
    return list(found.values())


def _each_name_used(code: CodeType, around: dict[str, Any]) -> Iterator[tuple[Mapping[str, Any], str, Any]]:
    names = {name for each in _codes_in(code) for name in each.co_names}
    for name in names:
        value = around.get(name, MISSING)
        if value is MISSING and name not in OF_PYTHON:
            continue  # an attribute, which may be of anything
        yield around, name, value
        if value is MISSING:
            yield OF_PYTHON, name, OF_PYTHON[name]
        elif isinstance(value, ModuleType | type):
            inner = {"_getframe"} if value is sys else names & vars(value).keys()  # what else it asks of `sys` is data
            for each in inner:
                yield _space_of(value), each, vars(value)[each]


@cache
def _space_of(thing: Any) -> Mapping[str, Any]:
    """Return the names in a module or class: of a class a new view is made each time."""
    names: Mapping[str, Any] = vars(thing)
    return names
