"""The shapes of what a submission makes, line by line, on a call of a check, compared with what the reference makes."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader.judge.errors import LearnerError
from grader.judge.tracing.letters import find_letters
from grader.judge.tracing.matching import Matcher
from grader.judge.tracing.trace import Step, Trace, WatchedCall, is_number
from grader.judge.tracing.watched_lesson import WatchedModule, WatchedReference, watch_calls
from grader.judge.transcript.transcript import Exchange
from grader.judge.values.compare import dtype_name, is_array, same
from grader.model import Function, Submission
from grader.source.parse import nodes_in, parse
from grader.worker.watch.watched_source import AFTER, RETURN, WHOLE

MAX_RAISED_CHARS = 200  # of the text of an error
MAX_CALLS = 60  # that are looked at for one that is answered wrongly


@dataclass(frozen=True)
class TracedValue:
    """What a variable was on one line.

    Attributes:
        name: Of the variable; `return` for the answer.
        value: The sizes of an array, or a number.
        which_pass: Of a line that ran several times, which; 0 for one that ran once.
        is_right: The reference has the same value somewhere.
        is_wrong_answer: It is returned in place of another value, whatever is known of what it was made of.
    """

    line: int
    name: str
    value: tuple[int, ...] | float
    dtype: str
    which_pass: int
    is_right: bool
    is_wrong_answer: bool = False


@dataclass(frozen=True)
class TracedError:
    """What a call raised: type, the text's first line, and the file's lines on the way there, the innermost last."""

    type: str
    text: str
    lines: Sequence[int]


@dataclass(frozen=True)
class TracedCall:
    """What one call of a function made, by lines.

    Attributes:
        wrong_from: The first line from which no value is one of the reference's; 0 if the answer is right.
        letters: The sizes by the letters that the statement or the reference has for them.
    """

    function: str
    is_right: bool
    has_returned: bool
    raised: TracedError | None
    wrong_from: int
    letters: Mapping[str, int]
    values: Sequence[TracedValue]

    @property
    def lines(self) -> list[int]:
        """The lines of which something is told."""
        return sorted({value.line for value in self.values} | set(self.raised.lines if self.raised else ()))


def trace_shapes(
    function: Function,
    module: WatchedModule,
    reference: WatchedReference,
    asked: Iterable[Sequence[Exchange]],
    submission: Submission,
) -> TracedCall | None:
    """Trace the first call that is answered wrongly, else the first; None where none could be watched.

    Args:
        asked: What the checks of the function ask, recorded on the reference.

    Raises:
        LearnerError: There is no answer to the first call.
    """
    first = None
    try:
        for _, call in zip(range(MAX_CALLS), _calls(module, reference, asked), strict=False):
            first = first or call
            if not _is_right(call):
                return _describe(function, call, reference, submission)
    except LearnerError:  # a call of a large input may take too long while it is watched
        if first is None:
            raise
    return _describe(function, first, reference, submission) if first else None


def _calls(
    module: WatchedModule, reference: WatchedReference, asked: Iterable[Sequence[Exchange]]
) -> Iterator[WatchedCall]:
    for exchanges in asked:
        yield from watch_calls(module, reference, exchanges)


def _is_right(call: WatchedCall) -> bool:
    return bool(call.trace.returned) and same(call.trace.returned[0], call.answer)


def _describe(function: Function, call: WatchedCall, reference: WatchedReference, submission: Submission) -> TracedCall:
    is_right, source = _is_right(call), submission.source
    matcher, parts = Matcher(call.trace, reference.values(call.right)), _Parts(function.name, source)

    def is_step_right(index: int, name: str) -> bool:
        is_returned = name.startswith(RETURN)  # an argument that is returned stands at the head, too, as what it is
        told = parts.is_right(call.trace.steps[index], call.answer) if is_returned else None
        return matcher.equal(index) is not None if told is None else told

    answered = parts.wrong_answers(call.trace, call.answer)
    values = [
        replace(value, is_wrong_answer=not value.is_right and (value.line, value.name) in answered)
        for value in _values(call.trace, is_step_right, parts, source)
    ]
    right = [value.line for value in values if value.is_right]
    begins = {step.place.statement for step in call.trace.steps if is_array(step.value) and matcher.is_known(step)}
    after = [value for value in values if not value.is_right and value.line > max(right, default=0)]
    # an array of zeros is yet to be filled, unless it is in what is returned
    wrong = [value.line for value in after if value.is_wrong_answer or value.line not in begins]
    return TracedCall(
        function.name,
        is_right,
        bool(call.trace.returned),
        _read_error(call.trace.raised, submission),
        0 if is_right else min(wrong, default=0),
        find_letters(function, reference.source, call.right),
        tuple(sorted(values, key=lambda value: value.line)),
    )


def _read_error(error: LearnerError | None, submission: Submission) -> TracedError | None:
    if error is None:
        return None
    places = [line for path, line, *_ in error.frames if path == submission.path]
    known = range(1, submission.source.count("\n") + 2)  # a worker can report any line
    lines = [line for line in dict.fromkeys(places) if line in known]
    text = error.text.strip().partition("\n")[0]
    return TracedError(error.type_name[:MAX_RAISED_CHARS], text[:MAX_RAISED_CHARS], lines)


def _values(
    trace: Trace, is_step_right: Callable[[int, str], bool], parts: _Parts, source: str
) -> Iterator[TracedValue]:
    """Yield what was given, assigned or returned; of several passes the first and the last."""
    lines = _Assignments(source)
    found: dict[tuple[int, str, int], list[int]] = defaultdict(list)  # by place: two of a line are no two passes
    for index, step in enumerate(trace.steps):
        if not (is_array(step.value) or is_number(step.value)):
            continue
        place = step.place
        if place.kind == "Name" and (line := lines.of_given(place.function, place.name, place.statement)):
            found[line, place.name, 0].append(index)
        is_one = len(place.names) == 1 or step.part != WHOLE  # a generator's parts bear the names of all
        if is_one and place.names and (place.parent < 0 or place.kind == AFTER):
            found[place.statement, parts.name_of(step), step.number].append(index)
    for (line, name, _), indices in found.items():
        calls = indices if trace.steps[indices[0]].place.kind != "Name" else indices[:1]
        ends = [(trace.steps[index], is_step_right(index, name)) for index in (calls[0], calls[-1])]
        shapes = [step.value.shape if is_array(step.value) else None for step, _ in ends]
        alike = shapes[0] is not None and shapes[0] == shapes[1]
        if len(calls) == 1 or (alike and ends[0][1] == ends[1][1]):
            yield _traced(line, name, ends[0][0], 0, ends[0][1])
            continue
        for (step, is_equal), which_pass in zip(ends, (1, len(calls)), strict=True):
            yield _traced(line, name, step, which_pass, is_equal)


def _traced(line: int, name: str, step: Step, which_pass: int, is_right: bool) -> TracedValue:
    if is_number(step.value):
        return TracedValue(line, name, step.value, type(step.value).__name__, which_pass, is_right)
    return TracedValue(line, name, tuple(step.value.shape), dtype_name(step.value), which_pass, is_right)


class _Parts:
    """What is written as a list, tuple or dict, returned or given one name: each part by the indices and keys to it."""

    def __init__(self, function: str, source: str) -> None:
        self.function = function
        self._paths: dict[tuple[int, int, int | None, int | None], tuple[Any, ...]] = {}
        for node in nodes_in(parse(source)):
            if isinstance(node, ast.Return | ast.Assign) and node.value:
                is_shared = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple)  # out to variables
                for each in node.value.elts if is_shared and isinstance(node.value, ast.Tuple) else [node.value]:
                    self._read(each, ())

    def _read(self, node: ast.expr, path: tuple[Any, ...]) -> None:
        self._paths[node.lineno, node.col_offset, node.end_lineno, node.end_col_offset] = path
        parts: Iterable[tuple[Any, ast.expr]] = ()
        if isinstance(node, ast.List | ast.Tuple):
            parts = enumerate(node.elts)
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            parts = [(key.value, part) for key, part in pairs if isinstance(key, ast.Constant)]
        for key, part in parts:
            self._read(part, (*path, key))

    def name_of(self, step: Step) -> str:
        """Name a value by its variable, if it is one of several; a part by the indices and keys behind that."""
        names, path = step.place.names, self._paths.get(step.place.span, ())
        if len(names) > 1 and WHOLE < step.part < len(names):
            return names[step.part]
        path = path if step.part == WHOLE else (*path, step.part)
        return names[0] + "".join(f"[{key!r}]" for key in path)

    def wrong_answers(self, trace: Trace, answer: Any) -> set[tuple[int, str]]:
        """Return line and name of what a call returned that is not its part of the right answer.

        Of a function that calls itself the outermost call's are the last.
        """
        returned = [step for step in trace.steps if self._is_returned(step)] if trace.returned else []
        line = returned[-1].place.statement if returned else 0
        told = {self.name_of(step): self.is_right(step, answer) for step in returned if step.place.statement == line}
        return {(line, name) for name, is_right in told.items() if is_right is False}

    def _is_returned(self, step: Step) -> bool:
        return step.place.names == (RETURN,) and step.place.function == self.function

    def is_right(self, step: Step, answer: Any) -> bool | None:
        """Compare what is returned with its part of the right answer; None for any other step."""
        if not self._is_returned(step):
            return None
        path = self._paths.get(step.place.span)
        if path is None or (path and step.part != WHOLE):
            return None
        try:
            for key in path if step.part == WHOLE else (step.part,):
                answer = answer[key]
        except (TypeError, LookupError):  # the answer is made otherwise
            return False
        return same(step.value, answer)


class _Assignments:
    """Where the variables of each function are given or assigned, by what is not watched."""

    def __init__(self, source: str) -> None:
        self._lines: dict[tuple[str, str], list[int]] = defaultdict(list)
        for node in parse(source).body:
            self._read(node, "")

    def of_given(self, function: str, name: str, line: int) -> int:
        """Return the last line before this one where a variable was given or assigned; 0 if that line is watched."""
        return max((each for each in self._lines[function, name] if each < line), default=0)

    def _read(self, node: ast.AST, owner: str) -> None:
        name = f"{owner}.{getattr(node, 'name', '')}".strip(".")
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                self._read(inner, name)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for argument in ast.walk(node.args):
                if isinstance(argument, ast.arg):
                    self._lines[name, argument.arg].append(node.lineno)
            for assigned in ast.walk(node):
                if isinstance(assigned, ast.Assign) and not isinstance(assigned.value, ast.Tuple):
                    self._read_targets(assigned, name)

    def _read_targets(self, node: ast.Assign, function: str) -> None:
        """Note what is unpacked of something that gives one part after the other."""
        for target in node.targets:
            if isinstance(target, ast.Tuple) and not isinstance(node.value, ast.Call):
                for part in target.elts:
                    if isinstance(part, ast.Name):
                        self._lines[function, part.id].append(node.lineno)
