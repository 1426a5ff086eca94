"""What went wrong in words that show no input: for feedback on checks that stay hidden.

The message of a failure says what was asked, what came back and what was expected. A submission may put the inputs it
was given into anything of its own: what it prints, the text or even the class name of an error, a string that it
returns, the sizes of an array. A gist is made without any of it: from our own sentences, from what the course expects,
and from facts that leave no room for a message (that the shape is wrong; which line raised).
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from grader.judge.errors import LearnerError
from grader.judge.values.compare import is_array, is_tensor, kind_of, same, to_numpy
from grader.model import Submission
from grader.source.parse import parse

ERRORS = frozenset(
    name for name, thing in vars(builtins).items() if isinstance(thing, type) and issubclass(thing, BaseException)
) | {"AxisError", "LinAlgError", "OutOfMemoryError"}
# What our own process says of a worker that it stopped, or that was killed; what else it says of an end holds a number
# or a name that a submission can choose.
ENDINGS = re.compile(
    r"It printed more than \d+ kB and was stopped\."
    r"|The process was killed: by itself, or by the system for want of memory\."
)
LONGEST_LINE = 200  # characters of a line of source
DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
    "complex128",
)  # fmt: skip


# --- a difference in form ---------------------------------------------------------------------------------------------


def form_of(actual: Any, expected: Any, atol: float) -> str:
    """How two values differ, without a value of the first one: kind, shape and dtype, or that values differ."""
    if same(actual, expected, atol):
        return ""
    if is_array(expected) and is_array(actual) and is_tensor(actual) == is_tensor(expected):
        return _form_of_arrays(actual, expected)
    if isinstance(expected, list | tuple) and type(actual) is type(expected):
        return _form_of_sequences(actual, expected, atol)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return _form_of_mappings(actual, expected, atol)
    if actual is None:
        return f"It returned None; expected {kind_of(expected)}. Is a `return` missing?"
    if type(actual) is type(expected):
        return "It returned another value than expected."
    return f"It returned {plain_kind(actual)}; expected {kind_of(expected)}."


def _form_of_arrays(actual: Any, expected: Any) -> str:
    if actual.shape != expected.shape:
        return wrong_shape(actual.shape, expected.shape)
    if actual.dtype != expected.dtype:
        return f"Wrong dtype: {_dtype(actual)}, expected {_dtype(expected)}."
    a, e = to_numpy(actual), to_numpy(expected)
    if a.dtype.kind == "f" and bool(((a != a) & (e == e)).any()):
        return "Some values differ, and some of them are NaN."
    return "Some values differ."


def _form_of_sequences(actual: Sequence[Any], expected: Sequence[Any], atol: float) -> str:
    if len(actual) != len(expected):
        return f"It returned {_fewer(len(actual), len(expected))} values than the {len(expected)} expected."
    first = next(form for a, e in zip(actual, expected, strict=True) if (form := form_of(a, e, atol)))
    return f"In one entry: {first}"


def _form_of_mappings(actual: Mapping[Any, Any], expected: Mapping[Any, Any], atol: float) -> str:
    for key, value in expected.items():
        if key not in actual:
            return f"{key} is missing."
        if difference := form_of(actual[key], value, atol):
            return f"{key}: {difference}"
    return "There are more entries than expected."


def wrong_shape(actual: Sequence[int], expected: Sequence[int]) -> str:
    """A wrong shape beside the right one. Sizes that are nowhere in the right one are not told: a submission chooses
    them freely."""
    known = {1, *expected}
    if len(actual) != len(expected):
        found = f"it has {_fewer(len(actual), len(expected))} axes than expected"
    elif set(actual) <= known:
        found = str(tuple(actual))
    else:
        found = "another one"
    return f"Wrong shape: {found}; expected {tuple(expected)}."


def _fewer(number: int, than: int) -> str:
    return "fewer" if number < than else "more"


def plain_kind(value: Any) -> str:
    """What a value is, by its kind alone: "a list", "a float32 tensor", "an object of another type"."""
    if value is None:
        return "None"
    if is_array(value):
        return f"a {_dtype(value)} {'tensor' if is_tensor(value) else 'numpy array'}"
    for kind in (bool, int, float, str, list, tuple, dict):
        if type(value) is kind:
            return f"a{'n' if kind is int else ''} {kind.__name__}"
    return "an object of another type"


def _dtype(array: Any) -> str:
    name = str(array.dtype).removeprefix("torch.")
    return name if name in DTYPES else "special"


# --- a check that failed ----------------------------------------------------------------------------------------------


@cache
def sentences_in(path: Path) -> frozenset[str]:
    """Every text that stands as it is in a file of hidden checks: what is put together there may hold an answer."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return frozenset(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def of_failure(message: str, form: str, hint: str, checks_path: Path) -> str:
    """The gist of a check's own verdict: its difference in form and its hint, or its sentence if it is a fixed one."""
    fixed = sentences_in(checks_path)
    parts = (form or (message if message in fixed else ""), hint if hint in fixed else "")
    return " ".join(filter(None, parts))


def of_unusable(value: Any) -> str:
    """The gist of what a check stumbled over."""
    if value is None:
        return "It returned None. Is a `return` missing?"
    return f"It returned {plain_kind(value)}, which cannot be used as the answer."


# --- a call that gave no value ----------------------------------------------------------------------------------------


def of_error(error: LearnerError, submission: Submission, forbids: Sequence[str]) -> str:
    """The gist of an error of the submission: its type if Python has it, and the line of the learner's that raised, as
    it stands in their source."""
    place = place_in(submission, error.frames)
    if error.kind == "timed-out":  # the text is ours, from the line to the worker
        return f"{error.text} It was on {place}." if place else error.text
    if error.kind == "out-of-memory":
        return "It asked for more memory than there is."
    if error.kind == "crashed":
        return error.text if ENDINGS.fullmatch(error.text) else "Its process ended in the middle of a call."
    if error.kind == "forbidden":
        name = f"`{error.text}`, which" if error.text in forbids else "something that"
        return f"It calls {name} this exercise forbids: that call would do the exercise whole."
    if error.kind == "syntax" and (found := syntax_error_in(submission)):
        return found
    name = error.type_name if error.type_name in ERRORS else "An error of a type of its own"
    return f"{name} on {place}.{line_at(submission, place)}" if place else f"{name}."


def line_at(submission: Submission, place: str) -> str:
    """The learner's own line at a place such as "line 7 of softmax.py", to stand below it. It comes from the source,
    never from what a worker says that the line is, so it shows no input."""
    number, _, path = place.removeprefix("line ").partition(" of ")
    lines = _sources(submission)[path].split("\n")
    text = lines[int(number) - 1].strip()[:LONGEST_LINE]
    return f"\n    {text}" if text else ""


def place_in(submission: Submission, frames: Sequence[Sequence[Any]]) -> str:
    """The innermost of the learner's lines in a traceback that a worker reported, such as "line 7 of softmax.py";
    empty if it names none that there is."""
    sources = _sources(submission)
    for filename, line, *_ in reversed(frames):
        if filename in sources and 0 < line <= sources[filename].count("\n") + 1:
            return f"line {line} of {filename}"
    return ""


def _sources(submission: Submission) -> dict[str, str]:
    """The texts that were handed in, by their paths."""
    return dict([(submission.path, submission.source), *submission.siblings.values()])


def syntax_error_in(submission: Submission) -> str:
    """What Python cannot read, as our own reading of the source finds it; empty if it finds nothing."""
    for path, source in _sources(submission).items():
        try:
            parse(source)
        except SyntaxError as error:
            place = f"line {error.lineno} of {path}"
            there = error.lineno and error.lineno <= source.count("\n") + 1
            return f"SyntaxError on {place}: {error.msg}.{line_at(submission, place) if there else ''}"
    return ""
