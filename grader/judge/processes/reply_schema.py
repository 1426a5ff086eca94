"""Validate a worker's replies: every type, length and number must be as the operation's reply has it.

The learner's code runs in the worker and can send anything. Plain data of the right form passes, wrong values
included: judging those is the checks' work. Everything else raises `Malformed`, and counts as a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from grader.worker.arrays import device_types, map_leaves, unpack_array
from grader.worker.watch.watched_source import WHOLE
from grader.worker.wire import Array, Handle, Opaque

MAX_TEXT_CHARS = 4000  # characters of an error's text; ours cuts it at half of that
MAX_LINE_CHARS = 1000  # of a file's name, a line of source, the name of a type or a parameter
MAX_FRAMES = 16
MAX_NAMES = 2000
MAX_LINES = 1_000_000
MAX_EVENTS = 20_000
ERROR_KINDS = ("raised", "forbidden", "out-of-memory", "syntax")
DEFINITION_KINDS = ("function", "class", "missing", "not-callable")

T = TypeVar("T")
Frame = tuple[str, int, str, str]


class Malformed(Exception):
    """A reply that our own worker code never sends."""


def reply_to(operation: str, content: Mapping[str, Any], reply: Mapping[str, Any]) -> dict[str, Any]:
    """Validate the reply to an operation requested with `content`, and unpack its arrays. Raises Malformed."""
    try:
        return _READERS[operation](content, reply)
    except Malformed:
        raise
    # what Python and torch make of a wrong type where a right one is assumed
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError, ArithmeticError, MemoryError) as error:
        raise Malformed(f"{operation}: {type(error).__name__}") from error


def read_error(error: Any) -> tuple[str, str, str, list[Frame]]:
    """Return the kind, type, text and the learner's lines of a reply's `error`. Raises Malformed."""
    if not isinstance(error, dict):
        raise Malformed("no error of ours")
    kind = _text(error.get("kind"), MAX_LINE_CHARS)
    if kind not in ERROR_KINDS:
        raise Malformed("no kind of error")
    frames = read_frames(error.get("frames"))
    return kind, _text(error.get("type"), MAX_LINE_CHARS), _text(error.get("text"), MAX_TEXT_CHARS), frames


def read_frames(frames: Any) -> list[Frame]:
    """Return the well-formed frames of a traceback: file, line, function, source."""
    if not isinstance(frames, list | tuple):
        return []
    right = [frame for frame in frames[-MAX_FRAMES:] if _is_frame(frame)]
    return [
        (file[:MAX_LINE_CHARS], line, name[:MAX_LINE_CHARS], code[:MAX_LINE_CHARS]) for file, line, name, code in right
    ]


def _is_frame(frame: Any) -> bool:
    return isinstance(frame, list | tuple) and [type(part) for part in frame] == [str, int, str, str]


# --- one reader for each operation ------------------------------------------------------------------------------------


def _call(content: Mapping[str, Any], reply: Mapping[str, Any]) -> dict[str, Any]:
    value = _value(reply["value"])
    plain: dict[str, Any] = {"value": value, "devices": tuple(sorted(device_types(reply["value"])))}
    if content.get("still"):
        plain["stilled"] = _exactly(bool, reply["stilled"])
    if content.get("grad") is not None:
        grads = None if reply["grads"] is None else _each(reply["grads"], _array_or_none)
        return plain | {"is_tensor": _exactly(bool, reply["is_tensor"]), "grads": grads}
    if content.get("elsewhere"):
        plain["there"] = _exactly(bool, reply["there"])
    if not content.get("after"):
        return plain
    after = reply["after"]
    if not isinstance(after, list) or [type(part) for part in after] != [list, dict]:
        raise Malformed("no arguments after the call")
    return plain | {"after": [_value(after[0]), _value(after[1])]}


def _handle(_content: Mapping[str, Any], reply: Mapping[str, Any]) -> dict[str, Any]:
    handle = reply["handle"]
    if type(handle) is not int or not 0 < handle < 1 << 31:
        raise Malformed("no handle")
    names = {key: _names(reply.get(key, [])) for key in ("missing", "unexpected")}
    return {"handle": handle, **names, "by_shape": _exactly(bool, reply.get("by_shape", False))}


def _state(_content: Mapping[str, Any], reply: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "state": _each(reply["state"], _array),
        "grads": _each(reply["grads"], _array_or_none),
        "parameters": _names(reply["parameters"]),
        "training": _exactly(bool, reply["training"]),
    }


def _events(_content: Mapping[str, Any], reply: Mapping[str, Any]) -> dict[str, Any]:
    events = reply["events"]
    if not isinstance(events, list) or len(events) > MAX_EVENTS:
        raise Malformed("no list of events")
    return {"events": [_event(event) for event in events]}


def _event(event: Any) -> tuple[Any, ...]:
    if not isinstance(event, list | tuple) or not event:
        raise Malformed("no event")
    name, *rest = event
    if name == "step" and len(rest) == 1:
        return name, _each(rest[0], _array_or_none)
    if name == "forward" and [type(part) for part in rest] == [bool, list, bool]:
        return name, rest[0], [_exactly(int, size) for size in rest[1]], rest[2]
    if name in ("report", "moved") and len(rest) == 1:
        return name, _exactly(float, rest[0])
    if name in ("backward", "zero_grad") and not rest:
        return (name,)
    raise Malformed("no event of ours")


def _watched(_content: Mapping[str, Any], reply: Mapping[str, Any]) -> dict[str, Any]:
    """Read what a watched call returned, in a list, the value of each expression, and what it raised."""
    events = reply["events"]
    if not isinstance(events, list) or len(events) > MAX_EVENTS:
        raise Malformed("no list of events")
    raised = reply["raised"]
    if raised is not None:
        raised = dict(zip(("kind", "type", "text", "frames"), read_error(raised), strict=True))
    return {
        "value": _returned(reply["value"]),
        "events": [_watched_value(*event) for event in events],
        "raised": raised,
    }


def _watched_value(place: Any, made: Any, part: Any, value: Any) -> tuple[int, int, int, Any]:
    if isinstance(value, str | list | tuple | dict | Handle) or _exactly(int, part) < WHOLE:
        raise Malformed("no value of an expression")
    return _exactly(int, place), _exactly(int, made), part, _value(value)


def _exchanged(content: Mapping[str, Any], reply: Mapping[str, Any]) -> dict[str, Any]:
    values = reply["values"]
    if not isinstance(values, list) or len(values) != len(content["trials"]):
        raise Malformed("no answer to each trial")
    return {"values": [_returned(value) for value in values]}


def _returned(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) > 1:
        raise Malformed("neither a value nor none")
    return [_value(item) for item in value]


def _definitions(_content: Mapping[str, Any], reply: Mapping[str, Any]) -> dict[str, Any]:
    """Read what the module defines: (kind, parameters) by name, and all public names."""
    return {"found": _each(reply["found"], _definition), "public": _names(reply["public"])}


def read_forbidden_statement(
    reply: Mapping[str, Any], paths: Collection[str], forbids: Collection[str]
) -> tuple[str, int, str] | None:
    """Return in which of these files, and where, a load ended at a forbidden call, and at which; None if it did not."""
    calls = reply.get("calls")
    if not isinstance(calls, list) or [type(part) for part in calls] != [str, int, str]:
        return None
    path, line, name = calls
    return (path, line, name) if path in paths and 0 < line < MAX_LINES and name in forbids else None


def _definition(found: Any) -> tuple[str, list[str]]:
    kind, parameters = found
    if kind not in DEFINITION_KINDS:
        raise Malformed("no kind of definition")
    return kind, _names(parameters)


_READERS: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]] = {
    "load": _definitions,
    "names": _definitions,
    "call": _call,
    "build": _handle,
    "make": _handle,
    "state": _state,
    "mode": lambda _content, _reply: {},
    "events": _events,
    "watch": _watched,
    "exchange": _exchanged,
}


# --- the parts that they are made of ----------------------------------------------------------------------------------


def _value(value: Any) -> Any:
    """Unpack the arrays in plain data."""
    return map_leaves(value, _leaf)


def _leaf(leaf: Any) -> Any:
    """Unpack an array. Replace a handle by a placeholder: it would refer to an object of its receiver."""
    if isinstance(leaf, Array):
        return unpack_array(leaf)
    return Opaque("Handle", "") if isinstance(leaf, Handle) else leaf


def _each(found: Any, read: Callable[[Any], T]) -> dict[str, T]:
    if not isinstance(found, dict) or len(found) > MAX_NAMES:
        raise Malformed("no dictionary of this size")
    return {_text(name, MAX_LINE_CHARS): read(value) for name, value in found.items()}


def _array(value: Any) -> Any:
    """Unpack an array, or the placeholder of a tensor that cannot be sent."""
    if not isinstance(value, Array | Opaque):
        raise Malformed("no array")
    return _leaf(value)


def _array_or_none(value: Any) -> Any:
    return None if value is None else _array(value)


def _names(names: Any) -> list[str]:
    if not isinstance(names, list) or len(names) > MAX_NAMES:
        raise Malformed("no list of names")
    return [_text(name, MAX_LINE_CHARS) for name in names]


def _exactly(kind: type[T], value: Any) -> T:
    """Return a value that is of this type itself: True is no int here."""
    if type(value) is not kind:
        raise Malformed(f"no {kind.__name__}")
    return value


def _text(text: Any, longest: int) -> str:
    if not isinstance(text, str):
        raise Malformed("no text")
    return text[:longest]
