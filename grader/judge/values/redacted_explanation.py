"""Explain a failure without showing any input: for feedback on checks that stay hidden.

The full message of a failure says what was asked, what came back and what was expected. A submission could smuggle its
inputs into anything it controls: what it prints, the text or class name of an error, a string that it returns, the
sizes of an array. A redacted explanation is made without those: from our own sentences, from the kinds and sizes
that the course expects, and from facts that leave no room for a message (that the shape is wrong; which line raised).
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from grader.judge.errors import LearnerError
from grader.judge.values.compare import dtype_name, is_array, is_tensor, kind_of, same, to_numpy, with_article
from grader.model import Submission
from grader.source.parse import nodes_in, parse
from grader.worker.wire import ITEM_SIZES

IN_ONE = "In one entry: "
KNOWN_ERRORS = frozenset(
    name for name, thing in vars(builtins).items() if isinstance(thing, type) and issubclass(thing, BaseException)
) | {"AxisError", "LinAlgError", "OutOfMemoryError"}
# What is said of a worker that was stopped or killed. All else that is said of an end holds a number or a name that a
# submission can choose.
ENDINGS = re.compile(
    r"It printed more than \d+ kB and was stopped\."
    r"|The process was killed: by itself, or by the system for want of memory\."
)
MAX_LINE_CHARS = 200  # characters of a line of source
MAX_LINE = 1000  # the last line of a file that is named: of a longer file each line could stand for a number


# --- a difference in form ---------------------------------------------------------------------------------------------


def explain_form(actual: Any, expected: Any, atol: float) -> str:
    """Explain how two values differ by kind, shape and dtype, without any value of either."""
    if same(actual, expected, atol):
        return ""
    if is_array(expected) and is_array(actual) and is_tensor(actual) == is_tensor(expected):
        return _explain_arrays(actual, expected)
    if isinstance(expected, list | tuple) and type(actual) is type(expected):
        return _explain_sequences(actual, expected, atol)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return _explain_mappings(actual, expected, atol)
    if actual is None:
        return f"It returned None; expected {kind_of(expected, told=False)}. Is a `return` missing?"
    if type(actual) is type(expected):
        return "It returned another value than expected."
    return f"It returned {redacted_kind(actual)}; expected {kind_of(expected, told=False)}."


def _explain_arrays(actual: Any, expected: Any) -> str:
    if actual.shape != expected.shape:
        return wrong_shape(actual.shape, expected.shape)
    if actual.dtype != expected.dtype:
        return f"Wrong dtype: {_dtype(actual)}, expected {_dtype(expected)}."
    a, e = to_numpy(actual), to_numpy(expected)
    if a.dtype.kind == "f" and bool(((a != a) & (e == e)).any()):
        return "Some values differ, and some of them are NaN."
    return "Some values differ."


def _explain_sequences(actual: Sequence[Any], expected: Sequence[Any], atol: float) -> str:
    if len(actual) != len(expected):
        return f"It returned {_fewer(len(actual), len(expected))} values than the {len(expected)} expected."
    first = next(form for a, e in zip(actual, expected, strict=True) if (form := explain_form(a, e, atol)))
    return first if first.startswith(IN_ONE) else f"{IN_ONE}{first}"


def _explain_mappings(actual: Mapping[Any, Any], expected: Mapping[Any, Any], atol: float) -> str:
    for key, value in expected.items():
        if key not in actual:
            return f"{key} is missing."
        if difference := explain_form(actual[key], value, atol):
            return f"{key}: {difference}"
    return "There are more entries than expected."


def wrong_shape(actual: Sequence[int], expected: Sequence[int]) -> str:
    """Describe a wrong shape beside the right one; it is shown only if axes were reordered, or have shrunk to 1."""
    if len(actual) != len(expected):
        found = f"it has {_fewer(len(actual), len(expected))} axes than expected"
    elif sorted(actual) == sorted(expected) or all(a in (1, e) for a, e in zip(actual, expected, strict=True)):
        found = str(tuple(actual))
    else:
        found = "another one"
    return f"Wrong shape: {found}; expected {tuple(expected)}."


def _fewer(number: int, than: int) -> str:
    return "fewer" if number < than else "more"


def redacted_kind(value: Any) -> str:
    """Describe what a value is by its kind alone: "a list", "a float32 tensor", "an object of another type"."""
    if value is None:
        return "None"
    if is_array(value):
        return f"{with_article(_dtype(value))} {'tensor' if is_tensor(value) else 'numpy array'}"
    for kind in (bool, int, float, str, list, tuple, dict):
        if type(value) is kind:
            return with_article(kind.__name__)
    return "an object of another type"


def _dtype(array: Any) -> str:
    name = dtype_name(array)
    return name if name in ITEM_SIZES else "special"


# --- a check that failed ----------------------------------------------------------------------------------------------


@cache
def fixed_sentences(path: Path) -> frozenset[str]:
    """Return the texts in a file of hidden checks that are constants; one that is put together may hold an answer."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return frozenset(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def explain_failure(message: str, form: str, hint: str, checks_path: Path) -> str:
    """Explain a check's own verdict: by the difference in form and its hint, or by its sentence if that is fixed."""
    fixed = fixed_sentences(checks_path)
    parts = (form or (message if message in fixed else ""), hint if hint in fixed else "")
    return " ".join(filter(None, parts))


def explain_unusable(value: Any) -> str:
    """Explain that a check could not use what the submission returned."""
    if value is None:
        return "It returned None. Is a `return` missing?"
    return f"It returned {redacted_kind(value)}, which cannot be used as the answer."


# --- a call that gave no value ----------------------------------------------------------------------------------------


def explain_error(error: LearnerError, submission: Submission, forbids: Sequence[str]) -> str:
    """Explain an error of the submission: its type if Python has it, and the learner's line that raised."""
    place = place_in(submission, error.frames)
    if error.kind == "timed-out":  # the text is ours, from the line to the worker
        return f"{error.text} It was on {place}." if place else error.text
    if error.kind == "out-of-memory":
        return "It asked for more memory than there is."
    if error.kind == "crashed":
        return error.text if ENDINGS.fullmatch(error.text) else "Its process ended in the middle of a call."
    if error.kind == "forbidden":
        name = f"`{error.text}`, which" if error.text in forbids else "something that"
        return f"It calls {name} this exercise forbids: it is to be done without that call."
    if error.kind == "syntax" and (found := syntax_error_in(submission)):
        return found
    name = error.type_name if error.type_name in KNOWN_ERRORS else "An error of a type of its own"
    return f"{name} on {place}.{line_at(submission, place)}" if place else f"{name}."


def line_at(submission: Submission, place: str) -> str:
    """Return the learner's own line at a place such as "line 7 of softmax.py", to stand below it.

    It is taken from the source, not from what a worker reported, so it shows no input.
    """
    number, _, path = place.removeprefix("line ").partition(" of ")
    lines = _sources(submission)[path].split("\n")
    text = lines[int(number) - 1].strip()[:MAX_LINE_CHARS]
    return f"\n    {text}" if text else ""


def place_in(submission: Submission, frames: Sequence[Sequence[Any]]) -> str:
    """Return the innermost of the learner's lines in a worker's traceback, such as "line 7 of softmax.py".

    It is empty if the traceback names no line of code: a worker can report any line.
    """
    sources = _sources(submission)
    for filename, line, *_ in reversed(frames):
        if filename in sources and line in _code_lines(sources[filename]):
            return f"line {line} of {filename}"
    return ""


@lru_cache(maxsize=16)
def _code_lines(source: str) -> frozenset[int]:
    """Return the first lines of a source on which an expression or a statement begins."""
    try:
        lines = {getattr(node, "lineno", 0) for node in nodes_in(parse(source))}
    except SyntaxError:
        return frozenset()
    return frozenset(line for line in lines if 0 < line <= MAX_LINE)


def _sources(submission: Submission) -> dict[str, str]:
    """Return the sources that were handed in, by their paths."""
    return dict([(submission.path, submission.source), *submission.siblings.values()])


def syntax_error_in(submission: Submission) -> str:
    """Describe the first syntax error that we find in the sources ourselves; empty if there is none."""
    for path, source in _sources(submission).items():
        try:
            parse(source)
        except SyntaxError as error:
            place = f"line {error.lineno} of {path}"
            there = error.lineno and error.lineno <= source.count("\n") + 1
            return f"SyntaxError on {place}: {error.msg}.{line_at(submission, place) if there else ''}"
    return ""
