"""Find out from a class's tally how its scores, skills, mistakes and checks are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, median, quantiles

from grader.model import SKILLS
from grader.reports.redact_record import INSTEAD
from grader.reports.statistics.class_tally import ClassTally, LessonTally, MistakeTally, Row
from grader.reports.statistics.item_analysis import Item, analyse

MAX_NAMED = 12  # learners named in a sentence before the rest is folded away
MIN_FOLDED = 3  # fewer are named too
MAX_FOLDED = 300
MAX_UNNAMED = 5  # weaknesses without a name, of one lesson
MAX_COMMON = 5  # mistakes in the list over all lessons
MIN_MISTAKES = 8  # for that list

# What is said of a file; what is said of functions is in `INSTEAD`.
WHILE_LOADING = {
    "syntax-error": "Python cannot read the file.",
    "unreadable-file": "The file is no text that Python could read.",
    "exception": "The file raises an error while it is loaded.",
    "timeout": "The file does not come to an end while it is loaded.",
    "out-of-memory": "The file asks for more memory than there is while it is loaded.",
    "crashed": "The process dies while the file is loaded.",
    "forbidden-call": "The file uses a forbidden call while it is loaded.",
}


@dataclass(frozen=True)
class ScoreSummary:
    """A distribution of scores; the middle half lies in `middle`."""

    count: int
    mean: float | None = None
    median: float | None = None
    lowest: float | None = None
    highest: float | None = None
    middle: tuple[float, float] | None = None


@dataclass(frozen=True)
class People:
    """Learners to name: the first, those folded away, and how many more there are."""

    shown: tuple[Row, ...]
    folded: tuple[Row, ...]
    more: int

    @property
    def count(self) -> int:
        return len(self.shown) + len(self.folded) + self.more


@dataclass(frozen=True)
class MistakeFinding:
    """A mistake, and who made it of those who handed the lesson in."""

    id: str
    says: str
    suggests: str
    example: str  # what one of them was told, if each was told something else
    who: People
    of: int

    @property
    def share(self) -> float:
        return self.who.count / self.of if self.of else 0.0


@dataclass(frozen=True)
class LessonMistakes:
    """What went wrong in one lesson, the most common first."""

    lesson: str
    named: tuple[MistakeFinding, ...]  # of the course's catalogue
    other: tuple[MistakeFinding, ...]  # errors, stubs, what has no name


def summary_of(scores: Sequence[float]) -> ScoreSummary:
    """Compute mean, median and spread; the middle half only for four scores or more."""
    if not scores:
        return ScoreSummary(0)
    lower, _, upper = quantiles(scores, n=4, method="inclusive") if len(scores) > 3 else (0.0, 0.0, 0.0)
    middle = (lower, upper) if len(scores) > 3 else None
    return ScoreSummary(len(scores), mean(scores), median(scores), min(scores), max(scores), middle)


def name_people(tally: ClassTally, numbers: Sequence[int]) -> People:
    """Choose whom to name of the rows with these numbers."""
    rows = [tally.rows[number] for number in numbers[: MAX_NAMED + MAX_FOLDED]]
    first = MAX_NAMED if len(rows) > MAX_NAMED + MIN_FOLDED else len(rows)
    return People(tuple(rows[:first]), tuple(rows[first:]), len(numbers) - len(rows))


# --- lessons by skills ------------------------------------------------------------------------------------------------


def skills_of(tally: ClassTally) -> list[str]:
    """List the skills that the class's lessons check, in their usual order."""
    there = {check.skill for lesson in tally.lessons.values() for check in lesson.checks.values()}
    return [skill for skill in SKILLS if skill in there] + sorted(there - set(SKILLS))


def earned_by_skill(lesson: LessonTally) -> dict[str, float]:
    """Return the share of the points earned in each skill, without the checks on which the grader failed."""
    points: dict[str, float] = {}
    earned: dict[str, float] = {}
    for (ids, outcomes, marks), often in lesson.patterns.items():
        for check_id, outcome, mark in zip(ids, outcomes, marks, strict=True):
            if outcome != "grader-error":
                check = lesson.checks[check_id]
                points[check.skill] = points.get(check.skill, 0.0) + check.points * often
                earned[check.skill] = earned.get(check.skill, 0.0) + mark * often
    return {skill: earned[skill] / points[skill] for skill in points if points[skill]}


# --- mistakes ---------------------------------------------------------------------------------------------------------


def mistakes_of(tally: ClassTally) -> list[LessonMistakes]:
    """List the mistakes of each lesson that has any."""
    found = [_lesson_mistakes(tally, lesson) for lesson in tally.lessons.values()]
    return [lesson for lesson in found if lesson.named or lesson.other]


def most_common(lessons: Iterable[LessonMistakes]) -> list[tuple[str, MistakeFinding]]:
    """List the most common named mistakes of all lessons, if there are many."""
    every = [(lesson.lesson, mistake) for lesson in lessons for mistake in lesson.named]
    every.sort(key=lambda pair: -pair[1].who.count)
    return every[:MAX_COMMON] if len(every) >= MIN_MISTAKES else []


def _lesson_mistakes(tally: ClassTally, lesson: LessonTally) -> LessonMistakes:
    groups = sorted(lesson.mistakes.values(), key=lambda group: -len(group.who))
    named = [_mistake(tally, lesson, group) for group in groups if group.id not in INSTEAD]
    other = [_mistake(tally, lesson, group) for group in groups if group.id in INSTEAD]
    unnamed = sorted(lesson.unnamed.items(), key=lambda item: -len(item[1]))[:MAX_UNNAMED]
    other += [MistakeFinding("", says, "", "", name_people(tally, who), lesson.handed_in) for says, who in unnamed]
    return LessonMistakes(lesson.name, tuple(named), tuple(sorted(other, key=lambda mistake: -mistake.who.count)))


def _mistake(tally: ClassTally, lesson: LessonTally, group: MistakeTally) -> MistakeFinding:
    who = name_people(tally, group.who)
    general = (INSTEAD if group.function else WHILE_LOADING).get(group.id)
    if general is None:
        return MistakeFinding(group.id, group.says, group.suggests, "", who, lesson.handed_in)
    example = group.detail if group.detail and not group.function else group.says
    says = general.format(function=group.function)
    return MistakeFinding(group.id, says, "", "" if example == says else example, who, lesson.handed_in)


# --- checks -----------------------------------------------------------------------------------------------------------


def items_of(tally: ClassTally) -> dict[str, list[Item]]:
    """Analyse the items of each lesson that anyone handed in."""
    return {lesson.name: analyse(lesson.checks, lesson.patterns) for lesson in tally.lessons.values() if lesson.checks}
