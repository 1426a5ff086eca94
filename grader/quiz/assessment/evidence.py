"""Collect the evidence for each topic and each facet from the log of answers.

An answer counts if a program marked it, it was the first try at its question in its session, and no question that asks
the same was answered in the hours before: a try soon after feedback is practice, and only shows that the feedback was
read. Of several that count the latest does. Exercises, and what learners mark themselves, never count here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from grader.model import Answered, Claimed, QuizSession
from grader.quiz.assessment.fading import weigh
from grader.quiz.assessment.scoring import Item, TopicScore, topic_score
from grader.quiz.bank.bank import Bank
from grader.quiz.model import FACETS, Family

PRACTICE = timedelta(hours=20)  # after feedback, in which a question shows no more than that
ALL_OR_NOTHING = ("multi",)  # kinds of which a part does not count towards "solid"
CLAIM_CREDIT = {"yes": 1.0, "partly": 0.5, "no": 0.0}


@dataclass(frozen=True)
class Counted:
    """An answer that counts, its question, and what it weighs."""

    answer: Answered
    family: Family
    weight: float

    @property
    def item(self) -> Item:
        return make_item(self.answer, self.weight)


@dataclass(frozen=True)
class Evidence:
    """What counts for one topic, or facet, and its score; None without an item."""

    name: str
    counted: tuple[Counted, ...]
    score: TopicScore | None

    @property
    def answers(self) -> tuple[Answered, ...]:
        return tuple(each.answer for each in self.counted)

    @property
    def partly(self) -> int:
        """How many answers were right in part."""
        return sum(0 < answer.credit < 1 for answer in self.answers)


def first_tries(answers: Iterable[Answered]) -> dict[str, Answered]:
    """Return the latest first try of each family, in the order in which the families were last asked."""
    latest: dict[str, Answered] = {}
    for answer in sorted(answers, key=lambda answer: answer.when):
        if answer.first:
            latest.pop(answer.family, None)
            latest[answer.family] = answer
    return latest


def latest_claims(claims: Iterable[Claimed], *, traps: bool = False) -> Iterable[Claimed]:
    """Return the last mark of each key point, or of each trap."""
    points = [claim for claim in sorted(claims, key=lambda claim: claim.when) if claim.trap == traps]
    return {(claim.topic, claim.point): claim for claim in points}.values()


def collect(
    bank: Bank, answers: Sequence[Answered], now: datetime, sessions: Iterable[QuizSession] = ()
) -> list[Counted]:
    """Return the answers that count, those to the questions asked last at the end. Imports fsrs for old ones."""
    tries: dict[str, list[tuple[Answered, Family]]] = {}
    for answer, family in tries_that_count(bank, answers, sessions):
        tries[family.idea] = [*tries.pop(family.idea, []), (answer, family)]
    weights = weigh({idea: [answer.when for answer, _ in mine] for idea, mine in tries.items()}, now)
    return [Counted(*mine[-1], weights[idea]) for idea, mine in tries.items()]


def evidence_by_topic(bank: Bank, counted: Iterable[Counted]) -> list[Evidence]:
    """Group evidence by the topic that it counts for, those of the assessment first and in any case."""
    return _group(bank.assessed, [(topic_of(bank, each.family), each) for each in counted])


def topic_of(bank: Bank, family: Family) -> str:
    """Return the topic that a family counts for; its own where the course does not have that."""
    known = family.counts_for in bank.paths or family.counts_for in bank.collections
    return family.counts_for if known else family.topic


def evidence_by_facet(bank: Bank, counted: Iterable[Counted]) -> list[Evidence]:
    """Group evidence for topics of the assessment by facet, in the order of FACETS; only those that were asked."""
    mine = [each for each in counted if each.family.facet and each.family.counts_for in bank.assessed]
    found = _group(FACETS, [(each.family.facet, each) for each in mine])
    return [each for each in found if each.score]


def make_item(answer: Answered, weight: float = 1.0) -> Item:
    """Turn an answer into an item of a score."""
    return Item(answer.credit, answer.guess, answer.kind in ALL_OR_NOTHING, weight, answer.is_unknown)


def _group(names: Iterable[str], found: Iterable[tuple[str, Counted]]) -> list[Evidence]:
    groups: dict[str, list[Counted]] = {name: [] for name in names}
    for name, each in found:
        groups.setdefault(name, []).append(each)
    return [
        Evidence(name, tuple(mine), topic_score([each.item for each in mine]) if mine else None)
        for name, mine in groups.items()
    ]


def tries_that_count(
    bank: Bank, answers: Iterable[Answered], sessions: Iterable[QuizSession]
) -> Iterator[tuple[Answered, Family]]:
    """Yield the tries that count with their families, oldest first; a family that the bank lost has none."""
    marks_shown = {each.id: each.finished for each in sessions if each.mode == "exam" and each.finished}
    told: dict[str, datetime] = {}  # when feedback on an idea was given last
    pending: dict[str, datetime] = {}
    for answer in sorted(answers, key=lambda answer: answer.when):
        family = bank.find_family(answer.family)
        if family is None:
            continue
        shown = _latest(told.get(family.idea), pending.get(family.idea), answer.when)
        if answer.first and (shown is None or answer.when - shown >= PRACTICE):
            yield answer, family
        told[family.idea] = answer.when
        if answer.session in marks_shown:
            pending[family.idea] = marks_shown[answer.session]


def _latest(told: datetime | None, pending: datetime | None, now: datetime) -> datetime | None:
    """Return when feedback was last given before now; that of an exam comes with its end."""
    return max((when for when in (told, pending) if when is not None and when <= now), default=None)
