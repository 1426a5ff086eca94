"""Find the line on which a named mistake is made: where the submission has what the mistaken reference has there.

A known mistake is the reference with other expressions in it, so what these give is known as well. Where no value in
the place of one expression makes an answer right for certain, the line is that which gives such a value, if all before
it is right.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from grader.judge.mistakes.changed_parts import Part, Span, find_changed_parts
from grader.judge.mistakes.mistake_set import MistakeSet
from grader.judge.tracing.line_words import describe
from grader.judge.tracing.matching import WrongStep, is_equal
from grader.judge.tracing.trace import Trace
from grader.judge.tracing.watched_lesson import (
    MAX_CHECKS,
    WatchedModule,
    WatchedReference,
    has_single,
    watch_calls,
    watch_source,
    with_helpers,
)
from grader.judge.tracing.wrong_line import MAX_SECONDS, LineFinder
from grader.judge.transcript.transcript import Exchange
from grader.judge.values.compare import is_array, same, to_numpy
from grader.model import WrongLine
from grader.source.parse import parse
from grader.worker.watch.watched_source import Place

MAX_WAYS = 12  # of making the mistakes that are named


@dataclass(frozen=True)
class MistakenVersion:
    """The reference with a mistake in it, watched, and where it was changed."""

    module: WatchedModule
    parts: Sequence[Part]


@dataclass(frozen=True)
class NamedMistakes:
    """The mistakes that were named in a function, by their ids in its mistake set."""

    mistake_set: MistakeSet
    ids: Sequence[str]

    def make_versions(self, kinds: Mapping[str, str]) -> Iterator[MistakenVersion]:
        """Yield the reference with each way of making them together: of those that change its own lines."""
        source = self.mistake_set.source
        right, ways = source.write({}), self.mistake_set.ways_of(self.ids)
        for changes in islice((each for each in ways if each.keys() <= source.own_steps), MAX_WAYS):
            text = source.write(changes)
            module = watch_source(text, source.path, kinds, source.names)
            yield MistakenVersion(module, find_changed_parts(right, text))


def find_mistaken_line(
    function: str,
    module: WatchedModule,
    reference: WatchedReference,
    asked: Sequence[Sequence[Exchange]],
    versions: Iterable[MistakenVersion],
    source: str,
    passed: Collection[str] = (),
) -> WrongLine | None:
    """Return the line on which a submission makes a mistake; None where that is not certain.

    Args:
        asked: What the checks ask that failed, recorded on the reference.
        versions: Ways of making the mistake; what is found by one counts if its answer is the submission's.
        source: That of the submission.
        passed: Functions of the lesson that passed all checks: no line of theirs is blamed, or of what they call.

    Raises:
        LearnerError: The submission does not answer.
    """
    right_elsewhere = with_helpers(source, passed)
    calls, until = set[str](), time.monotonic() + MAX_SECONDS
    for version in versions:
        if time.monotonic() > until:
            break
        calls |= {ast.dump(part.node) for part in version.parts if isinstance(part.node, ast.Call)}
        for exchanges in sorted(asked, key=has_single)[:MAX_CHECKS]:
            for finder, mistaken in _alike(module, reference, exchanges, version):
                index = _LineOfMistake(finder, mistaken, version.parts).find()
                if index is not None and finder.trace.steps[index].place.function not in right_elsewhere:
                    found = WrongStep(index, None, None, finder.last_right(index), is_named=True)
                    return describe(function, found, finder.trace, source, finder.right)
    return _find_same_call(function, source, calls)


def _find_same_call(function: str, source: str, calls: Collection[str]) -> WrongLine | None:
    """Return the statement of a function, or of a class, that calls word for word what a mistake calls there.

    What it does is not seen; so it counts only where it is the only one, and depends on no test.
    """
    owners = [node for node in parse(source).body if getattr(node, "name", "") == function]
    tests = [node for owner in owners for node in ast.walk(owner) if isinstance(node, ast.If)]
    found, under_test = (
        [
            node
            for each in some
            for node in ast.walk(each)
            if isinstance(node, ast.Expr) and ast.dump(node.value) in calls
        ]
        for some in (owners, tests)
    )
    if len(found) != 1 or under_test:
        return None
    line = found[0].lineno
    says = (
        f"`{function}`: Line {line} is where it goes wrong: `{ast.unparse(found[0])}` is what the named mistake does."
    )
    return WrongLine(function, line, 0, says, f"`{function}`: line {line} is where it goes wrong.")


def _alike(
    module: WatchedModule, reference: WatchedReference, exchanges: Sequence[Exchange], version: MistakenVersion
) -> Iterator[tuple[LineFinder, Trace]]:
    """Yield the calls of a check that are answered wrongly, and just as a mistaken version answers them."""
    calls = (watch_calls(each, reference, exchanges) for each in (module, version.module))
    for mine, theirs in zip(*calls, strict=False):
        returned, mistaken = mine.trace.returned, theirs.trace.returned
        if not returned or not mistaken or not same(returned[0], mistaken[0]):
            return
        if not same(returned[0], mine.answer):
            yield LineFinder(module.subject, mine.request, mine.trace, reference.values(mine.right)), theirs.trace


class _LineOfMistake:
    """Looks in one traced call for what a mistaken version of the reference has in it."""

    def __init__(self, finder: LineFinder, mistaken: Trace, parts: Sequence[Part]) -> None:
        self.finder, self.steps = finder, finder.trace.steps
        self.mistaken, self.parts = mistaken, parts
        self.changed = {step.place.statement for step in mistaken.steps if self._is_changed(step.place)}

    def find(self) -> int | None:
        """Return the step of the submission that gives what the mistake gives; None if that is not certain."""
        steps = self.mistaken.steps
        wrong = [index for index, step in enumerate(steps) if _tells(step.value) and not self._is_right(step.value)]
        whole = [index for index in wrong if steps[index].place.names]
        changed = [
            index
            for index in (sorted(self.mistaken.ancestors(whole[0])) if whole else range(len(steps)))
            if self._place(index).statement in self.changed
        ]
        if not changed or (not whole and len({self._place(index).statement for index in changed}) > 1):
            return None
        if not whole or whole[0] not in changed:
            kept = self._kept_of_step(changed[-1])
            return kept[0] if len(kept) == 1 else None
        for target in (*self._changed_part(wrong, whole[0]), *whole):
            hits = [index for index in range(len(self.steps)) if self._gives(index, steps[target].value)]
            if hits:
                return self._certain(hits, self._inside(target, wrong))
        return None

    def _is_changed(self, place: Place) -> bool:
        """Return True for an expression that has a changed part in it, or is in one."""
        return any(_covers(part.span, place.span) or _covers(place.span, part.span) for part in self.parts)

    def _place(self, index: int) -> Place:
        return self.mistaken.steps[index].place

    def _kept_of_step(self, index: int) -> list[int]:
        """Return the statements that keep what is only a part of the reference's step, where a mistake stops there."""
        value = self.mistaken.steps[index].value
        equal = [right for right in self.finder.right if is_equal(right.value, value)]
        if not _tells(value) or not equal or any(right.name or right.mark for right in equal):
            return []
        return [
            other
            for other, step in enumerate(self.steps)
            if step.place.parent < 0 and step.place.kind != "Name" and is_equal(step.value, value)
        ]

    def _inside(self, target: int, wrong: Sequence[int]) -> list[Any]:
        """Return what changed expressions have in them that is wrong, up to a step."""
        spans = [(self.mistaken.steps[each].value, self._place(each).span) for each in wrong if each <= target]
        return [value for value, span in spans if any(_covers(part.span, span) for part in self.parts)]

    def _changed_part(self, wrong: Sequence[int], whole: int) -> list[int]:
        """Return the step of a changed part that alone is wrong in its statement: with it all that follows is right."""
        place, spans = self._place(whole), {part.span for part in self.parts if part.is_alike}
        return [
            index
            for index in wrong
            if index <= whole and self._place(index).span in spans and self._place(index).function == place.function
        ][:1]

    def _is_right(self, value: Any) -> bool:
        return any(is_equal(value, right.value) for right in self.finder.right)

    def _gives(self, index: int, value: Any) -> bool:
        step = self.steps[index]
        is_it = not step.passed_on and _tells(step.value) and is_equal(step.value, value)
        return is_it and not self.finder.matcher.equal(index)

    def _certain(self, hits: Sequence[int], known: Sequence[Any]) -> int | None:
        """Return the first of some steps if what goes before it is right, or is of the mistake as well."""
        index, line = hits[0], self.finder.line(hits[0])
        place, passes = self.steps[index].place, self.finder.trace.passes[self.steps[index].number]
        again = (
            other
            for other in hits[1:]
            if self.steps[other].place.kind != "Name" and self.steps[other].place.function == place.function
        )
        earlier = (other for other in passes if other < index and self.steps[other].part == self.steps[index].part)
        if any(self.finder.line(other) != line for other in again) or next(earlier, None) is not None:
            return None  # which of both is meant is not known, or an earlier pass through it was right
        before = [*self.finder.doubtful(index), *filter(self._is_off, self.finder.trace.ancestors(index))]
        doubtful = (self.steps[other].value for other in before if self.finder.line(other) != line)
        if not all(any(is_equal(value, each) for each in known) for value in doubtful):
            return None
        if any(
            self._is_changed_size(other)
            for other in self.finder.trace.ancestors(index)
            if self.finder.line(other) != line
        ):
            return None
        return self._of_helper(index, passes) if place.function != self.steps[-1].place.function else index

    def _is_off(self, index: int) -> bool:
        """Return True if a step is one of the reference's but for a factor or a shift."""
        match = self.finder.matcher.match(index)
        return match is not None and any(word in match.relation for word in (" times", " plus"))

    def _is_changed_size(self, index: int) -> bool:
        """Return True for a whole number with a name, which a changed expression of the mistake has, too."""
        step = self.steps[index]
        if type(step.value) is not int or not step.place.names or self._is_right(step.value):
            return False
        alike = (each for each in self.mistaken.steps if type(each.value) is int and each.value == step.value)
        return any(self._is_changed(each.place) for each in alike)

    def _of_helper(self, index: int, passes: Collection[int]) -> int | None:
        """Return a step in a function of the submission's own, or the call of that if it is right in another one."""
        function = self.steps[index].place.function
        given = (
            other
            for other in self.finder.trace.ancestors(index)
            if self.steps[other].place.kind == "Name" and self.steps[other].place.function == function
        )
        if any(type(self.steps[other].value) is int and not self.finder.matcher.equal(other) for other in given):
            return None  # a size that the reference does not have
        is_right_elsewhere = any(self.finder.matcher.equal(other) for other in passes)
        return self.finder.call_of(index) if is_right_elsewhere else index


def _tells(value: Any) -> bool:
    """Return True for a value that is hardly another's by chance: a fraction, or an array of different numbers."""
    if not is_array(value):
        return type(value) is float
    numbers = to_numpy(value)
    if numbers.size == 1:
        return bool(numbers.dtype.kind == "f")
    return bool(numbers.size and not (numbers == numbers.flat[0]).all())


def _covers(span: Span, part: Span) -> bool:
    return span[:2] <= part[:2] and span[2:] >= part[2:]
