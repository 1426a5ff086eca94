"""Count a class in one pass over its records, in little memory.

Of the checks only *patterns* are kept: the outcomes and points of one lesson of one learner, and how often they occur.
Learners share patterns, so ten thousand make some hundred, and the arithmetic is done once for each.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from grader.model import CheckResult, LessonResult, Named
from grader.record import Previous, Record, status_of
from grader.reports.html_document import file_link, harmless
from grader.reports.record_view import override_texts
from grader.reports.statistics.item_analysis import Pattern

MAX_LABEL_CHARS = 60  # of a learner's name or id
MAX_TEXT_CHARS = 300  # of a sentence about a mistake
MAX_TEXTS = 2_000  # different sentences kept of one lesson; each learner's error may have its own

NO_CODE: Mapping[str, str] = {}
_outcome_of, _earned_of, _id_of = attrgetter("outcome"), attrgetter("earned"), attrgetter("id")


@dataclass(frozen=True, slots=True)
class Row:
    """One hand-in as the page shows it; lessons are in the order of the tally."""

    number: int
    key: str  # the record's id as it is
    id: str
    name: str
    link: str  # to the learner's page, or ""
    code: str  # link to the page of code, or ""
    score: float | None
    complete: bool
    late: bool
    attempt: int
    problem: str
    states: tuple[str, ...]
    scores: tuple[float | None, ...]
    before: Previous | None  # what a regrade replaced
    by_hand: Mapping[str, str]  # what a human said, by lesson
    has_namesake: bool = False

    @property
    def status(self) -> str:
        """One of the record's STATUSES."""
        return status_of(self.states, self.problem)

    @property
    def is_unreadable(self) -> bool:
        """Whether it was handed in and could not be read at all."""
        return self.status == "unreadable"

    @property
    def label(self) -> str:
        """The learner's name, with the id if two have the same name."""
        return f"{self.name} ({self.id})" if self.has_namesake else self.name or self.id


@dataclass
class MistakeTally:
    """Who made one mistake, and what they were told."""

    id: str
    function: str
    says: str
    suggests: str
    detail: str = ""  # the second line of what they were told
    who: list[int] = field(default_factory=list)  # numbers of rows


@dataclass
class LessonTally:
    """One lesson of the whole class."""

    name: str
    scores: list[float] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)
    checks: dict[str, CheckResult] = field(default_factory=dict)
    patterns: dict[Pattern, int] = field(default_factory=dict)
    mistakes: dict[tuple[str, str], MistakeTally] = field(default_factory=dict)
    unnamed: dict[str, list[int]] = field(default_factory=dict)  # a weakness without a name -> rows

    @property
    def handed_in(self) -> int:
        """How many hand-ins of this lesson have a score."""
        return len(self.scores)

    def add(self, row: int, lesson: LessonResult) -> None:
        """Count the lesson of one learner."""
        self.states[lesson.state] += 1
        if lesson.score is not None:
            self.scores.append(lesson.score)
        if lesson.checks:
            self._add_checks(lesson.checks)
        if lesson.mistakes:
            self._add_mistakes(row, lesson.mistakes)
        elif lesson.weaknesses:
            self._add_unnamed(row, lesson.weaknesses[0])

    def _add_checks(self, checks: Sequence[CheckResult]) -> None:
        pattern = tuple(map(_id_of, checks)), tuple(map(_outcome_of, checks)), tuple(map(_earned_of, checks))
        if pattern in self.patterns:
            self.patterns[pattern] += 1
            return
        ids, outcomes, earned = pattern
        for check in checks:
            self.checks.setdefault(check.id, check)
        shared = tuple(map(sys.intern, ids)), tuple(map(sys.intern, outcomes)), earned
        self.patterns[shared] = 1

    def _add_mistakes(self, row: int, mistakes: Sequence[Named]) -> None:
        for mistake in mistakes:
            key = (mistake.id, mistake.function)
            known = self.mistakes.get(key)
            if known is None:
                says, suggests = _first_line(mistake.says), _first_line(mistake.suggests)
                detail = _first_line(mistake.says.partition("\n")[2])
                known = self.mistakes[key] = MistakeTally(*key, says, suggests, detail)
            if not known.who or known.who[-1] != row:
                known.who.append(row)

    def _add_unnamed(self, row: int, weakness: str) -> None:
        says = _first_line(weakness)
        if says in self.unnamed or len(self.unnamed) < MAX_TEXTS:
            self.unnamed.setdefault(says, []).append(row)


class ClassTally:
    """All lessons of the whole class, and a row for each hand-in."""

    def __init__(self, lessons: Sequence[str], *, link: bool = True, code: Mapping[str, str] = NO_CODE) -> None:
        self.link, self.code = link, code
        self.lessons = {name: LessonTally(name) for name in lessons}
        self.rows: list[Row] = []
        self.unstarted: dict[int, list[str]] = {}  # row -> lessons that are still the stub
        self.undefined: dict[int, list[str]] = {}  # row -> lessons whose file does not define the function
        self._shared: dict[tuple[str, ...], tuple[str, ...]] = {}

    @property
    def scores(self) -> list[float]:
        """The scores there are."""
        return [row.score for row in self.rows if row.score is not None]

    def add(self, record: Record) -> None:
        """Count one record."""
        number, lessons = len(self.rows), record.lessons
        states: list[str] = []
        scores: list[float | None] = []
        for name, tally in self.lessons.items():
            lesson = lessons.get(name)
            if lesson is None:
                states.append("missing")
                scores.append(None)
                continue
            tally.add(number, lesson)
            states.append(lesson.state)
            scores.append(lesson.score)
            if any(mistake.id == "missing-function" for mistake in lesson.mistakes):
                self.undefined.setdefault(number, []).append(name)
            if any(mistake.id == "stub" for mistake in lesson.mistakes):
                self.unstarted.setdefault(number, []).append(name)
        self.rows.append(self._row(number, record, tuple(states), tuple(scores)))

    def mark_namesakes(self) -> None:
        """Mark the learners who share their name with another; called after the last record."""
        names = Counter(row.name for row in self.rows if row.name)
        self.rows = [replace(row, has_namesake=True) if names[row.name] > 1 else row for row in self.rows]

    def _row(self, number: int, record: Record, states: tuple[str, ...], scores: tuple[float | None, ...]) -> Row:
        return Row(
            number=number,
            key=record.id,
            id=_label(record.id),
            name=_label(record.name) if record.name else "",
            link=file_link("feedback", record.feedback or record.id) if self.link else "",
            code=self.code.get(record.id, ""),
            score=record.score,
            complete=record.complete,
            late=record.late,
            attempt=record.attempt,
            problem=_first_line(record.problem),
            states=self._shared.setdefault(states, states),
            scores=scores,
            before=record.previous,
            by_hand=dict(zip(record.overrides, override_texts(record), strict=True)) if record.overrides else NO_CODE,
        )


def _label(text: str) -> str:
    return shorten(harmless(text[:MAX_TEXT_CHARS]).replace("\n", " ").strip() or "?", MAX_LABEL_CHARS)


def _first_line(text: str) -> str:
    """Return the first line, shortened; it is not cleaned."""
    return shorten(text.lstrip().partition("\n")[0], MAX_TEXT_CHARS)


def shorten(text: str, most: int) -> str:
    """Cut a text to `most` characters; an ellipsis stands for the rest."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
