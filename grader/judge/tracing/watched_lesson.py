"""Watch a submission and the reference on the calls that a check makes, up to the first that is answered wrongly."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from grader.course.step_marks import read_marks
from grader.judge.errors import LearnerError
from grader.judge.processes.remote_module import CallableModule, LocalModule
from grader.judge.tracing.line_words import describe, is_exchanged
from grader.judge.tracing.matching import Right, WrongStep
from grader.judge.tracing.numbers_elsewhere import CHANCE, meaning_of, parameters_of
from grader.judge.tracing.trace import Trace, WatchedCall, is_number, is_value, size_of, trace_call
from grader.judge.tracing.wrong_line import LineFinder
from grader.judge.transcript.transcript import Exchange, with_handles
from grader.judge.values.compare import is_array, same, to_numpy
from grader.model import WrongLine
from grader.source.parse import nodes_in, parse
from grader.worker.arrays import map_leaves
from grader.worker.watch.watched_source import HOOK, RETURN, Place, Watcher, hook_expressions
from grader.worker.wire import Opaque

CALL_KEYS = ("target", "method", "attribute", "args", "kwargs")  # what says which call it is
MAX_ARGUMENT_BYTES = 64 << 10
NEAR = 2e-3  # is allowed where two forms of a formula are right
MAX_CHANCES = 2  # numbers that mend one call alone, behind which a line is looked for
MAX_CHECKS = 3  # that failed, on which the line is looked for
MAX_VALUES = 120  # of the reference
MAX_WATCHED = 32  # calls beside the one on which a number was found
MAX_OTHERS = 8  # of these, that evaluate the same expression


class FoundLine(NamedTuple):
    """A line where right ends, and whether it gives another value of the reference than the one that belongs there."""

    line: WrongLine
    is_exchanged: bool


@dataclass
class WatchedModule:
    """A module whose expressions are watched, and their places."""

    subject: CallableModule
    places: Sequence[Place]


def watch_source(source: str, path: Path, kinds: Mapping[str, str], names: Mapping[str, Any] = {}) -> WatchedModule:
    """Run a source of the course's own, with these names beside those it binds, and watch its expressions."""
    tree, places = hook_expressions(source)
    namespace: dict[str, Any] = {**names, "__name__": path.stem, HOOK: Watcher(places)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # of two mistakes at once, as of `None[-1]`
        code = compile(tree, str(path), "exec", dont_inherit=True)
    exec(code, namespace)  # trusted
    return WatchedModule(LocalModule(namespace, kinds), places)


class WatchedReference:
    """The reference, watched. What it gives is known by the marks of its steps."""

    def __init__(self, path: Path, kinds: Mapping[str, str]) -> None:
        self.source = path.read_text(encoding="utf-8")
        self.module = watch_source(self.source, path, kinds)

    def release(self) -> None:
        """Forget what was built for a search, which holds all that autograd recorded."""
        assert isinstance(self.module.subject, LocalModule)
        self.module.subject.release()

    @cached_property
    def marks(self) -> dict[int, str]:
        """The mark of each place that stands for a whole step."""
        found = {}
        for line, name in read_marks(self.source):
            before = [place.statement for place in self.module.places if place.statement <= line]
            for number, place in enumerate(self.module.places):
                if place.names and place.parent < 0 and place.statement == max(before, default=0):
                    found[number] = name
        return found

    def values(self, trace: Trace) -> list[Right]:
        """Return what the reference gave, the answer last."""
        found: list[Right] = []
        last = len(trace.steps) - 1
        all_made = frozenset(trace.ancestors_of_answer())
        for index, step in enumerate(trace.steps):
            name = step.place.name if step.place.kind == "Name" else step.place.names[0] if step.place.names else ""
            mark = self.marks.get(step.number, "")
            if step.place.kind == "Compare" and is_number(step.value):
                continue  # that something is None, mostly
            if not (is_value(step.value) or isinstance(step.value, Opaque)) or (
                step.place.kind == "Name" and not step.given
            ):
                continue
            twin = next((i for i, right in enumerate(found) if same(right.value, step.value, 0.0)), None)
            passes = [trace.steps[other].value for other in trace.passes[step.number]]
            passes = passes if len(passes) > 1 and all(map(is_array, passes)) else []
            made_of = frozenset(trace.ancestors(index))
            given = frozenset(other for other in made_of if trace.steps[other].given)
            right = Right(
                step.value,
                index,
                name if name != RETURN else "",
                mark,
                step.place.is_conditional,
                made_of=made_of,
                given=given,
                passes=passes,
            )
            if twin is None:
                found.append(right)
            elif mark and not found[twin].mark:
                found[twin] = right
        return [
            *found[: MAX_VALUES - 1],
            *_numbers_made_of(found, last),
            Right(trace.returned[0], last + 1, "", "", made_of=all_made),
        ]


def watch_calls(
    module: WatchedModule, reference: WatchedReference, exchanges: Sequence[Exchange]
) -> Iterator[WatchedCall]:
    """Yield the calls of a check, watched, as far as they depend on nothing that was done before.

    Args:
        exchanges: What a check asks, recorded on the reference.

    Raises:
        LearnerError: There is no answer.
    """
    both = (module, reference.module)
    handles: tuple[dict[int, int], ...] = ({}, {})
    for asked in exchanges:
        if isinstance(asked.answer, LearnerError) or asked.content.get("elsewhere"):
            return
        requests = [with_handles(asked.content, each) for each in handles]
        if asked.operation == "call":
            calls = [{key: request[key] for key in CALL_KEYS if key in request} for request in requests]
            if size_of(calls[1]) > MAX_ARGUMENT_BYTES:
                return
            traces = [trace_call(each.subject, each.places, call) for each, call in zip(both, calls, strict=True)]
            if traces[1].returned:
                yield WatchedCall(calls[0], traces[0], traces[1], asked.answer["value"])
            if handles[0]:
                return  # what an object does may depend on what was done to it
            continue
        replies = [each.subject.ask(asked.operation, **request) for each, request in zip(both, requests, strict=True)]
        if "handle" in asked.answer:
            for reply, each in zip(replies, handles, strict=True):
                each[asked.answer["handle"]] = reply["handle"]


def find_wrong_line(
    function: str,
    module: WatchedModule,
    reference: WatchedReference,
    asked: Sequence[Sequence[Exchange]],
    source: str,
    passed: Collection[str] = (),
) -> FoundLine | None:
    """Return the line where right ends, on a call that is answered wrongly; None where that is not certain.

    Args:
        asked: What the checks ask that failed, recorded on the reference.
        source: That of the submission.
        passed: Functions of the lesson that passed all checks: where one is called is told, and no line of it, or of
            what it calls.
    """
    checks, right_elsewhere = sorted(asked, key=has_single), with_helpers(source, passed)
    for call in _first_wrong_calls(module, reference, checks):
        if _refuses(call):
            continue
        right = reference.values(call.right)
        finder = LineFinder(module.subject, call.request, call.trace, right)
        found = finder.find()
        while found and found.expected and is_number(found.expected.value):
            known = _with_meaning(found, call, module, reference, checks, source)
            if known or len(finder.by_chance) >= MAX_CHANCES:
                found, finder.is_uncertain = known, True
                break
            finder.by_chance.add(found.index)
            found = finder.find()
        if found and call.trace.steps[found.index].place.function in right_elsewhere:
            found, finder.is_uncertain = finder.outside(found), True
        if found or finder.is_uncertain:
            line = describe(function, found, call.trace, source, right) if found else None
            return FoundLine(line, is_exchanged(found)) if found and line else None
    return None


def _refuses(call: WatchedCall) -> bool:
    """Return True if a statement of the submission's own raised: whatever keeps it from that mends the call."""
    frames = call.trace.raised.frames if call.trace.raised else ()
    return any(re.search(r"(^|[:;])\s*raise\b", str(code)) for *_, code in frames[-1:])


def with_helpers(source: str, functions: Collection[str]) -> set[str]:
    """Return functions with those of the same file that they call, and so on."""
    bodies = {node.name: node for node in parse(source).body if isinstance(node, ast.FunctionDef)}
    found, waiting = set[str](), [*functions]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            names = nodes_in(bodies[name]) if name in bodies else ()
            waiting += [each.id for each in names if isinstance(each, ast.Name) and each.id in bodies]
    return found


def _first_wrong_calls(
    module: WatchedModule, reference: WatchedReference, checks: Sequence[Sequence[Exchange]]
) -> Iterator[WatchedCall]:
    """Yield the first wrong call of each check; one that is off by little, which a check may allow, only if all are."""
    near: list[WatchedCall] = []
    is_any_far = False
    for exchanges in checks[:MAX_CHECKS]:
        call = next(_wrong_calls(module, reference, exchanges), None)
        if call and call.trace.returned and same(call.trace.returned[0], call.answer, NEAR):
            near.append(call)
        elif call:
            is_any_far = True
            yield call
    if not is_any_far:
        yield from near


def _wrong_calls(
    module: WatchedModule, reference: WatchedReference, exchanges: Sequence[Exchange]
) -> Iterator[WatchedCall]:
    """Yield the calls of a check that are answered wrongly, and whose right answers are of several numbers."""
    for call in watch_calls(module, reference, exchanges):
        if not (call.trace.returned and same(call.trace.returned[0], call.answer)) and not _is_uniform(call.answer):
            yield call


def _with_meaning(
    found: WrongStep,
    call: WatchedCall,
    module: WatchedModule,
    reference: WatchedReference,
    checks: Sequence[Sequence[Exchange]],
    source: str,
) -> WrongStep | None:
    """Return a step in whose place a number mends a call, with what the number is; None where it is by chance."""
    assert found.expected
    place = call.trace.steps[found.index].number
    calls = islice((other for each in checks for other in _wrong_calls(module, reference, each)), MAX_WATCHED)
    others = [other for other in calls if place in other.trace.passes and not same(_given(other), _given(call))]
    parameters = parameters_of(reference.source) & parameters_of(source)
    meaning = meaning_of(found.expected, place, call, others[:MAX_OTHERS], module.subject, parameters)
    if meaning == CHANCE:
        return None
    return replace(found, number_is=meaning)


def _given(call: WatchedCall) -> list[Any]:
    return [call.request["args"], call.request["kwargs"]]


def _is_uniform(answer: Any) -> bool:
    """Return True for an answer of one number throughout: many values in an expression's place give it by chance."""
    if not is_array(answer):
        return False
    values = to_numpy(answer)
    return bool(values.size > 1 and (values == values.flat[0]).all())


def has_single(exchanges: Sequence[Exchange]) -> bool:
    """Return True if an argument has an axis of size 1, or is a size of 1: along it mistakes do not show."""
    sizes: list[Any] = []
    for asked in exchanges:
        if asked.operation == "call":
            map_leaves(asked.content["kwargs"], lambda leaf: sizes.extend(getattr(leaf, "shape", ())))
            map_leaves(asked.content["args"], lambda leaf: sizes.extend(getattr(leaf, "shape", [leaf])))
    return any(type(size) is int and size == 1 for size in sizes)


def _numbers_made_of(found: Sequence[Right], index: int) -> list[Right]:
    """Return what people make of the same numbers on their way to the same values."""
    numbers = {float(right.value) for right in found if type(right.value) in (int, float)}
    powers = (-1, 0.5, -0.5)
    made = {number**power for number in numbers if number > 0 for power in powers}
    return [Right(number, index, "", is_derived=True) for number in sorted(made - numbers)[:MAX_VALUES]]
