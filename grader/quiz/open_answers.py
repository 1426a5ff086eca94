"""Open questions: answered in one's own words, marked by oneself, point by point. Text is never scored by a program.

That a word of a key point stands in the text too is shown, so that one finds the place. It counts for nothing: an
answer that says the opposite has the same words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from grader.errors import UsageError
from grader.model import Claimed, QuizSession
from grader.quiz.bank.bank import Bank
from grader.quiz.model import Family, KeyPoint, OpenQuestion, Topic, Trap

SHORTEST = 40  # characters of an answer
MOST_AUDITS = 2

_WORD = re.compile(r"\w[\w'’]*")
_COMMON = frozenset(
    _WORD.findall(
        "also because been before being both does each from have into itself just like made make more most much must "
        "only other over same says such than that their them then there these they this those through very what when "
        "where which while will with without would"
    )
)


@dataclass(frozen=True)
class Marking:
    """How far a learner has come with marking one answer. Marks are by the id of a key point or trap."""

    question: OpenQuestion
    points: Mapping[str, str]
    traps: Mapping[str, str]

    @property
    def next_point(self) -> KeyPoint | None:
        """The first key point that was not marked yet."""
        return next((point for point in self.question.key_points if point.id not in self.points), None)

    @property
    def next_trap(self) -> Trap | None:
        """The first trap that was not answered yet."""
        return next((trap for trap in self.question.traps if trap.id not in self.traps), None)

    @property
    def claimed(self) -> list[KeyPoint]:
        """The key points that the learner says are in the text."""
        return [point for point in self.question.key_points if self.points.get(point.id) == "yes"]

    @property
    def credit(self) -> float:
        """How many key points are claimed; one that is partly there counts as half of one."""
        from grader.quiz.assessment.assessment import (
            CLAIMED,  # here: what a mark is worth is the business of the assessment
        )

        return sum(CLAIMED[self.points[point.id]] for point in self.question.key_points if point.id in self.points)

    @property
    def whole(self) -> bool:
        """Whether everything was marked."""
        return self.next_point is None and self.next_trap is None


def marking(question: OpenQuestion, claims: Sequence[Claimed]) -> Marking:
    """From the claims of one sitting, oldest first: the last mark of a point is the one that holds."""
    points = {claim.point: claim.mark for claim in claims if not claim.trap}
    traps = {claim.point: claim.mark for claim in claims if claim.trap}
    return Marking(question, points, traps)


def marked_claims(bank: Bank, claims: Sequence[Claimed], written: Collection[str]) -> list[Claimed]:
    """The claims that count: of answers that were written, and marked to the end. `written` are sittings with a text.

    A question that was skipped, or marked in part, claims nothing yet; an answer from before still does.
    """
    by_answer: dict[tuple[str, str], list[Claimed]] = {}
    for claim in claims:
        if claim.session in written and claim.topic in bank.paths:
            by_answer.setdefault((claim.session, claim.topic), []).append(claim)
    whole = {
        key for key, mine in by_answer.items()
        if (question := bank.topic(key[1]).open) is not None and marking(question, mine).whole
    }  # fmt: skip
    return [claim for claim in claims if (claim.session, claim.topic) in whole]


def open_questions(bank: Bank) -> dict[int, Topic]:
    """Every topic with an open question, by the question's number, in order. Reads every file."""
    found = {topic.open.number: topic for topic in bank.topics() if topic.open}
    return dict(sorted(found.items()))


def find_open(bank: Bank, which: str) -> Topic:
    """The topic of the open question with this number, or of this name. Raises UsageError."""
    from grader.quiz.session.plan import find_topic

    if which.isascii() and which.isdecimal():
        found = next((topic for topic in bank.topics() if topic.open and topic.open.number == int(which[-9:])), None)
    else:
        found = bank.topic(find_topic(bank, which))
    if found is None or found.open is None:
        raise UsageError(f'there is no open question "{which}"', next_step="learn quiz open")
    return found


def audits(topic: Topic, claimed: Collection[str], tried: Mapping[str, int]) -> list[Family]:
    """At most two questions that bear on key points claimed: on as many of them as can be, the least asked first."""
    waiting = [family for family in topic.families if set(family.audits) & set(claimed)]
    left = set(claimed)
    chosen: list[Family] = []
    while waiting and len(chosen) < MOST_AUDITS:
        best = min(waiting, key=lambda family: (not set(family.audits) & left, tried.get(family.id, 0)))
        chosen.append(best)
        waiting.remove(best)
        left -= set(best.audits)
    return chosen


def shared_words(text: str, point: str) -> list[tuple[int, int]]:
    """Where in the text words of a key point stand, as (start, end); the ends of words do not matter."""
    wanted = {_stem(word) for word in _WORD.findall(point) if _tells(word)}
    return [found.span() for found in _WORD.finditer(text) if _tells(found[0]) and _stem(found[0]) in wanted]


def _tells(word: str) -> bool:
    """Whether a word says what something is about: short ones only if they are names, as d_k, W_O or V."""
    return (len(word) > 3 and word.lower() not in _COMMON) or "_" in word or (word.isupper() and word not in "AI")


def _stem(word: str) -> str:
    plain = word.lower()
    return plain if "_" in word or len(plain) < 6 else plain[:5]


# --- what the log knows of each ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Given:
    """The latest answer to an open question: its text, and how it was marked. `state` is one of STATES.

    One that is marked may still wait for its questions: then its session is not finished.
    """

    state: str
    session: QuizSession
    text: str
    marking: Marking


STATES = ("begun", "written", "skipped", "marked")
Texts = Mapping[str, str]  # by sitting


def given(
    question: OpenQuestion, sessions: Sequence[QuizSession], texts: Texts, claims: Sequence[Claimed]
) -> Given | None:  # fmt: skip
    """What is known of the latest answer to a question; None where none was begun."""
    mine = [session for session in sessions if session.mode == "audit" and session.topics == (question.topic,)]
    if not mine:
        return None
    session = max(mine, key=lambda session: session.started)
    text = texts.get(session.id, "")
    marks = marking(question, [claim for claim in claims if claim.session == session.id])
    return Given(_state(text, marks), session, text, marks)


def _state(text: str, marks: Marking) -> str:
    if not text.strip():
        return "begun" if marks.next_point else "skipped"
    if marks.whole:
        return "marked"
    return "written" if len(text) >= SHORTEST or marks.points else "begun"
