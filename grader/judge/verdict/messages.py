"""Sentences about one failure, for the learner."""

from __future__ import annotations

from typing import Any

from grader.judge.errors import LearnerError
from grader.judge.processes.remote_module import Call, RemoteFunction
from grader.judge.values.compare import is_array, kind_of, show
from grader.source.forbidden_calls import ForbiddenCall


def describe_error(error: LearnerError) -> str:
    """Describe an error of the submission, with the learner's own lines."""
    if error.kind == "forbidden":
        return f"It calls `{error.text}`, which this exercise forbids: that call would do the exercise whole."
    head = f"{error.type_name}: {error.text}" if error.type_name else error.text
    lines = [head.rstrip(": ")]
    for filename, line, name, code in error.frames:
        lines.append(f"  {filename}:{line} in {name}" if name else f"  {filename}:{line}")
        lines += [f"    {text}" for text in code.splitlines()]
    return "\n".join(lines)


def describe_ban(ban: ForbiddenCall, path: str) -> str:
    """Describe a forbidden call in the source."""
    return f"{ban.says}\n  {ban.path or path}:{ban.line}"


def describe_call(call: Call) -> str:
    """Describe the call that a check made last."""
    parts = [_describe_argument(arg) for arg in call.args]
    parts += [f"{name}={_describe_argument(value)}" for name, value in call.kwargs.items()]
    return f"Asked: {call.target}({', '.join(parts)})"


def _describe_argument(value: Any) -> str:
    if isinstance(value, RemoteFunction):
        return value.shown
    if is_array(value) and value.ndim:
        return kind_of(value).removeprefix("a ").replace(" of shape", "")
    return show(value)


def describe_unusable(value: Any, error: BaseException) -> str:
    """Describe a returned value that the check itself stumbled over."""
    if isinstance(error, AssertionError) and str(error):
        return str(error).splitlines()[0]
    if value is None:
        return "It returned None. Is a `return` missing?"
    return f"It returned {kind_of(value)}, which cannot be used as the answer ({type(error).__name__}: {error})."
