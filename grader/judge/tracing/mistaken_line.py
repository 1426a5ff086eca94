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

from grader.judge.mistakes.changed_parts import (
    Part,
    attributes_of,
    constructor_of,
    find_changed_parts,
    find_changed_statements,
    find_following,
)
from grader.judge.mistakes.expression_patterns import is_same
from grader.judge.mistakes.mistake_set import MistakeSet
from grader.judge.tracing.line_words import describe
from grader.judge.tracing.matching import WrongStep
from grader.judge.tracing.step_of_mistake import StepOfMistake, changing_argument
from grader.judge.tracing.trace import Trace, WatchedCall
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
from grader.source.parse import nodes_in, parse

MAX_WAYS = 12  # of making the mistakes that are named
_WITH_STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)


@dataclass(frozen=True)
class MistakenVersion:
    """The reference with a mistake in it, watched, and where it was changed.

    Attributes:
        changes: What stands in the place of its steps.
        statements: Those that have changed parts in them.
        following: What it lacks, each with the statement before which that is missing.
    """

    module: WatchedModule
    changes: Mapping[str, str]
    parts: Sequence[Part]
    statements: Sequence[ast.stmt]
    following: Sequence[tuple[ast.AST | None, ast.stmt]]


@dataclass(frozen=True)
class NamedMistakes:
    """The mistakes that were named in a function, by their ids in its mistake set."""

    mistake_set: MistakeSet
    ids: Sequence[str]

    def make_versions(self, kinds: Mapping[str, str]) -> Iterator[MistakenVersion]:
        """Yield the reference with each way of making them together: of those that change its own lines."""
        source = self.mistake_set.source
        right, ways = source.write({}), self.mistake_set.ways_of(self.ids)
        for changes in islice((each for each in ways if each.keys() <= source.written), MAX_WAYS):
            text = source.write(changes)
            module = watch_source(text, source.path, kinds, source.names)
            tree, parts = ast.parse(text), find_changed_parts(right, text)
            statements, following = find_changed_statements(tree, parts), find_following(tree, parts)
            yield MistakenVersion(module, changes, parts, statements, following)

    def write_beside_right(self, versions: Iterable[MistakenVersion]) -> Iterator[tuple[str, str]]:
        """Yield right sources, and each with what makes it one of these versions: the reference, and alternatives."""
        source = self.mistake_set.source
        rows = [each.changes for each in self.mistake_set.alternatives if each.changes.keys() <= source.written]
        for changes in (each.changes for each in versions):
            for right in ({}, *(each for each in rows if not each.keys().isdisjoint(changes))):
                yield source.write(right), source.write({**right, **changes})


def find_mistaken_line(
    function: str,
    module: WatchedModule,
    reference: WatchedReference,
    asked: Sequence[Sequence[Exchange]],
    versions: Iterable[MistakenVersion],
    source: str,
    passed: Collection[str] = (),
    by_words: bool = True,
) -> WrongLine | None:
    """Return the line on which a submission makes a mistake; None where that is not certain.

    Args:
        asked: What the checks ask that failed, recorded on the reference.
        versions: Ways of making the mistake; what is found by one counts if its answer is the submission's.
        source: That of the submission.
        passed: Functions of the lesson that passed all checks: no line of theirs is blamed, or of what they call.
        by_words: Where no value tells it, look for the words of the mistake.

    Raises:
        LearnerError: The submission does not answer.
    """
    right_elsewhere = with_helpers(source, passed)
    changed, following = list[ast.stmt](), list[tuple[ast.AST | None, ast.stmt]]()
    until = time.monotonic() + MAX_SECONDS
    for version in versions:
        if time.monotonic() > until:
            return None  # by chance: what is left could have said more
        changed += version.statements
        following += version.following
        for finder, index in _steps_of_mistake(module, reference, asked, version):
            if finder.trace.steps[index].place.function not in right_elsewhere:
                found = WrongStep(index, None, None, finder.last_right(index), is_named=True)
                return describe(function, found, finder.trace, source, finder.right)
    return _find_by_words(function, source, changed, following) if by_words else None


def is_alike(
    module: WatchedModule,
    reference: WatchedReference,
    asked: Sequence[Sequence[Exchange]],
    version: MistakenVersion,
) -> bool:
    """Return True if a mistaken version answers as the submission does in a call that is answered wrongly."""
    return any(
        not same(mine.trace.returned[0], mine.answer)
        for exchanges in sorted(asked, key=has_single)[:MAX_CHECKS]
        for mine, _ in _alike(module, reference, exchanges, version)
    )


def _steps_of_mistake(
    module: WatchedModule,
    reference: WatchedReference,
    asked: Sequence[Sequence[Exchange]],
    version: MistakenVersion,
) -> Iterator[tuple[LineFinder, int]]:
    """Yield the steps that have what a mistaken version has, each with its call.

    Where it is uncertain in one call which step is to blame, none counts in the next ones that has what comes later.
    """
    first = len(version.module.places)
    for exchanges in sorted(asked, key=has_single)[:MAX_CHECKS]:
        for mine, mistaken in _alike(module, reference, exchanges, version):
            is_wrong = not same(mine.trace.returned[0], mine.answer)
            if not is_wrong and changing_argument(mistaken, mine.request) is None:
                continue
            finder = LineFinder(module.subject, mine.request, mine.trace, reference.values(mine.right))
            search = StepOfMistake(finder, mistaken, version.parts)
            index = search.find() if is_wrong else changing_argument(mine.trace, mine.request)
            if index is not None and search.looked_for <= first:
                yield finder, index
            elif search.looked_for >= 0:
                first = min(first, search.looked_for)


def _find_by_words(
    function: str, source: str, changed: Sequence[ast.stmt], following: Sequence[tuple[ast.AST | None, ast.stmt]]
) -> WrongLine | None:
    if same := _only_statement(function, source, changed):
        return _tell(function, same, f"`{ast.unparse(same)}` is what the named mistake does.")
    if maker := _only_maker(function, source, changed):
        return maker
    own = [node for owner in parse(source).body if getattr(owner, "name", "") == function for node in nodes_in(owner)]
    missing = [after for lacking, after in following if not any(is_same(node, lacking) for node in own)]
    after = _only_statement(function, source, missing)
    why = f"the reference does something before `{ast.unparse(after)}`." if after else ""
    return _tell(function, after, why, "where something is missing") if after else None


def _only_statement(function: str, source: str, wanted: Iterable[ast.stmt]) -> ast.stmt | None:
    """Return the statement of a function, or of a class, that alone is word for word one of these.

    What it does is not seen; so it counts only where it depends on no test.
    """
    wanted = [each for each in wanted if not isinstance(each, ast.Pass | ast.Return)]
    owners = (node for node in parse(source).body if getattr(node, "name", "") == function)
    waiting: list[tuple[ast.AST, bool]] = [(node, False) for node in owners]
    found: list[tuple[ast.stmt, bool]] = []
    for node, is_tested in waiting:  # grows while it is read
        if isinstance(node, ast.stmt) and any(is_same(node, each) for each in wanted):
            found.append((node, is_tested))
        inside = (each for each in ast.iter_child_nodes(node) if isinstance(each, _WITH_STATEMENTS))
        waiting += [(each, is_tested or isinstance(node, ast.If)) for each in inside]
    return found[0][0] if len(found) == 1 and not found[0][1] else None


def _only_maker(function: str, source: str, changed: Iterable[ast.stmt]) -> WrongLine | None:
    """Return the statement of a class's constructor that alone makes the attribute which a mistake makes wrong.

    It counts where it takes no variable that another statement of the constructor made.
    """
    classes = [node for node in parse(source).body if isinstance(node, ast.ClassDef) and node.name == function]
    attributes = {name for each in changed for name in attributes_of(each)}
    statements = [each for node in classes for each in constructor_of(node)]
    for name in attributes if len(attributes) == 1 else ():
        inside = [(each, node) for each in statements for node in ast.walk(each)]
        using = {each for each, node in inside if isinstance(node, ast.Attribute) and node.attr == name}
        made = {node.id for _, node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        makers = [each for each in using if name in attributes_of(each)]
        if len(using) == len(makers) == 1 and not made & {getattr(node, "id", "") for node in ast.walk(makers[0])}:
            return _tell(function, makers[0], f"the named mistake is made where `self.{name}` is made.")
    return None


def _tell(function: str, node: ast.stmt, why: str, what: str = "where it goes wrong") -> WrongLine:
    where = f"{node.lineno} is {what}"
    return WrongLine(function, node.lineno, 0, f"`{function}`: Line {where}: {why}", f"`{function}`: line {where}.")


def _alike(
    module: WatchedModule, reference: WatchedReference, exchanges: Sequence[Exchange], version: MistakenVersion
) -> Iterator[tuple[WatchedCall, Trace]]:
    """Yield the calls of a check, up to the first that a mistaken version answers in another way."""
    calls = (watch_calls(each, reference, exchanges) for each in (module, version.module))
    for mine, theirs in zip(*calls, strict=False):
        returned, mistaken = mine.trace.returned, theirs.trace.returned
        if not returned or not mistaken or not same(returned[0], mistaken[0]):
            return
        yield mine, theirs.trace
