"""Collect the evidence for each topic from the log of answers.

An answer counts if a program marked it and it was the first try at its family in its session; of several first
tries the latest counts. A second try after feedback only shows that the feedback was read. An exercise counts as three
items of its topic, each with the share of the exercise's points as its credit, unless it was not begun, or its solution
was seen before it was solved. What learners mark themselves never counts here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader.errors import UsageError
from grader.model import Answered, Claimed, LessonProgress
from grader.model.progress import MIN_SCORE
from grader.quiz.assessment.scoring import Item, TopicScore, topic_score
from grader.quiz.bank.bank import Bank
from grader.quiz.kinds.kind import TYPED_GUESS

EXERCISE_ITEMS = 3
MAX_SCORE = 10.0  # of an exercise
ALL_OR_NOTHING = ("multi",)  # kinds of which a part does not count towards "solid"
CLAIM_CREDIT = {"yes": 1.0, "partly": 0.5, "no": 0.0}


@dataclass(frozen=True)
class Exercise:
    """An exercise as evidence, with the share of its points that was earned."""

    lesson: str
    share: float


@dataclass(frozen=True)
class Evidence:
    """What counts for one topic of the assessment, and its score; None without an item."""

    topic: str
    answers: tuple[Answered, ...]
    exercises: tuple[Exercise, ...]
    score: TopicScore | None


def first_tries(answers: Iterable[Answered]) -> dict[str, Answered]:
    """Return the latest first try of each family, in the order in which the families were last asked."""
    latest: dict[str, Answered] = {}
    for answer in sorted(answers, key=lambda answer: answer.when):
        if answer.first:
            latest.pop(answer.family, None)
            latest[answer.family] = answer
    return latest


def latest_claims(claims: Iterable[Claimed]) -> Iterable[Claimed]:
    """Return the last mark of each key point; traps are left out."""
    points = [claim for claim in sorted(claims, key=lambda claim: claim.when) if not claim.trap]
    return {(claim.topic, claim.point): claim for claim in points}.values()


def collect_evidence(bank: Bank, answers: Sequence[Answered], progress: Mapping[str, LessonProgress]) -> list[Evidence]:
    """Collect the evidence for each topic, those of the assessment first and in any case."""
    by_topic: dict[str, list[Answered]] = {name: [] for name in bank.assessed}
    for answer in first_tries(answers).values():
        name = _counts_for(bank, answer)
        if name:
            by_topic.setdefault(name, []).append(answer)
    exercises = _exercises(bank, progress)
    return [
        _evidence(name, by_topic.get(name, []), exercises.get(name, []))
        for name in dict.fromkeys([*by_topic, *exercises])
    ]


def items_of(answers: Iterable[Answered], exercises: Iterable[Exercise]) -> list[Item]:
    """Turn evidence into the items of a topic's score."""
    marks = [Item(answer.credit, answer.guess, answer.kind in ALL_OR_NOTHING) for answer in answers]
    return marks + [Item(each.share, TYPED_GUESS) for each in exercises for _ in range(EXERCISE_ITEMS)]


def _evidence(name: str, answers: list[Answered], exercises: list[Exercise]) -> Evidence:
    items = items_of(answers, exercises)
    return Evidence(name, tuple(answers), tuple(exercises), topic_score(items) if items else None)


def _counts_for(bank: Bank, answer: Answered) -> str:
    """Return the topic to which an answer counts; "" for a question that the bank no longer has."""
    try:
        bank.family(answer.family)
        return bank.topic(answer.topic).counts_for
    except UsageError:
        return ""


def _exercises(bank: Bank, progress: Mapping[str, LessonProgress]) -> dict[str, list[Exercise]]:
    """Return exercises by the topic to which they count, that of their lesson's questions."""
    found: dict[str, list[Exercise]] = {}
    for lesson, known in progress.items():
        unaided = known.solved or not known.solution_seen
        if known.last_score is None or known.is_untouched or known.gave_up or not unaided:
            continue
        if lesson in bank.paths:
            share = (known.last_score - MIN_SCORE) / (MAX_SCORE - MIN_SCORE)
            found.setdefault(bank.topic(lesson).counts_for, []).append(Exercise(lesson, share))
    return found
