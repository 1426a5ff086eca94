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

from grader.judge.mistakes.changed_parts import Part, find_changed_parts
from grader.judge.mistakes.mistake_set import MistakeSet
from grader.judge.tracing.line_words import describe
from grader.judge.tracing.matching import WrongStep
from grader.judge.tracing.step_of_mistake import StepOfMistake
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
from grader.judge.values.compare import same
from grader.model import WrongLine
from grader.source.parse import parse

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
                index = StepOfMistake(finder, mistaken, version.parts).find()
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
