"""Open questions: the learner answers in prose and marks the answer point by point. No program scores the text.

Words that an answer shares with a key point are shown, to help find the passage. They do not count: an answer that says
the opposite has the same words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from grader.errors import UsageError
from grader.model import Claimed, QuizSession
from grader.quiz.assessment.evidence import CLAIM_CREDIT
from grader.quiz.bank.bank import Bank
from grader.quiz.model import Family, KeyPoint, OpenQuestion, Topic, Trap
from grader.quiz.session.plan import find_topic

MIN_CHARACTERS = 40
MAX_AUDITS = 2

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
    """A learner's marks of one answer so far, by the id of a key point or trap."""

    question: OpenQuestion
    points: Mapping[str, str]
    traps: Mapping[str, str]

    @property
    def next_point(self) -> KeyPoint | None:
        """The first key point without a mark."""
        return next((point for point in self.question.key_points if point.id not in self.points), None)

    @property
    def next_trap(self) -> Trap | None:
        """The first trap without an answer."""
        return next((trap for trap in self.question.traps if trap.id not in self.traps), None)

    @property
    def claimed_points(self) -> list[KeyPoint]:
        """The key points that the learner says are in the text."""
        return [point for point in self.question.key_points if self.points.get(point.id) == "yes"]

    @property
    def credit(self) -> float:
        """The number of key points claimed; one that is partly stated counts as half."""
        return sum(CLAIM_CREDIT[self.points[point.id]] for point in self.question.key_points if point.id in self.points)

    @property
    def is_complete(self) -> bool:
        """True if every key point and trap has a mark."""
        return self.next_point is None and self.next_trap is None


def make_marking(question: OpenQuestion, claims: Sequence[Claimed]) -> Marking:
    """Collect the claims of one session, oldest first; the last mark of a point counts."""
    points = {claim.point: claim.mark for claim in claims if not claim.trap}
    traps = {claim.point: claim.mark for claim in claims if claim.trap}
    return Marking(question, points, traps)


def marked_claims(bank: Bank, claims: Sequence[Claimed], written: Collection[str]) -> list[Claimed]:
    """Return the claims that count: those of answers that have a text and are marked completely.

    A skipped or partly marked answer claims nothing; an earlier answer to the same question still does. `written` are
    the sessions with a text.
    """
    by_answer: dict[tuple[str, str], list[Claimed]] = {}
    for claim in claims:
        if claim.session in written and claim.topic in bank.paths:
            by_answer.setdefault((claim.session, claim.topic), []).append(claim)
    complete = {
        key
        for key, mine in by_answer.items()
        if (question := bank.topic(key[1]).open) is not None and make_marking(question, mine).is_complete
    }
    return [claim for claim in claims if (claim.session, claim.topic) in complete]


def open_questions(bank: Bank) -> dict[int, Topic]:
    """Return every topic with an open question, by the question's number. Reads every file."""
    found = {topic.open.number: topic for topic in bank.topics() if topic.open}
    return dict(sorted(found.items()))


def find_open_question(bank: Bank, which: str) -> Topic:
    """Find the topic of an open question by the question's number or the topic's name. Raises UsageError."""
    if which.isascii() and which.isdecimal():
        found = next((topic for topic in bank.topics() if topic.open and topic.open.number == int(which[-9:])), None)
    else:
        found = bank.topic(find_topic(bank, which))
    if found is None or found.open is None:
        raise UsageError(f'there is no open question "{which}"', next_step="learn quiz open")
    return found


def choose_audits(topic: Topic, claimed: Collection[str], tried: Mapping[str, int]) -> list[Family]:
    """Choose at most two questions that test claimed points: as many points as possible, the least asked first."""
    waiting = [family for family in topic.families if set(family.audits) & set(claimed)]
    left = set(claimed)
    chosen: list[Family] = []
    while waiting and len(chosen) < MAX_AUDITS:
        best = min(waiting, key=lambda family: (not set(family.audits) & left, tried.get(family.id, 0)))
        chosen.append(best)
        waiting.remove(best)
        left -= set(best.audits)
    return chosen


def shared_words(text: str, point: str) -> list[tuple[int, int]]:
    """Return the (start, end) of words in the text that a key point has too, whatever their endings."""
    wanted = {_stem(word) for word in _WORD.findall(point) if _is_significant(word)}
    return [found.span() for found in _WORD.finditer(text) if _is_significant(found[0]) and _stem(found[0]) in wanted]


def _is_significant(word: str) -> bool:
    """Return True for a word that carries meaning; a short one only if it is a name, such as d_k, W_O or V."""
    return (len(word) > 3 and word.lower() not in _COMMON) or "_" in word or (word.isupper() and word not in "AI")


def _stem(word: str) -> str:
    plain = word.lower()
    return plain if "_" in word or len(plain) < 6 else plain[:5]


# --- the latest answer ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LatestAnswer:
    """The latest answer to an open question. `state` is one of STATES.

    Where an answer is marked but its session is not finished, questions on what was claimed are left.
    """

    state: str
    session: QuizSession
    text: str
    marking: Marking


STATES = ("begun", "written", "skipped", "marked")
Texts = Mapping[str, str]  # by session


def latest_answer(
    question: OpenQuestion, sessions: Sequence[QuizSession], texts: Texts, claims: Sequence[Claimed]
) -> LatestAnswer | None:
    """Return the latest answer to a question; None if none was begun."""
    mine = [session for session in sessions if session.mode == "audit" and session.topics == (question.topic,)]
    if not mine:
        return None
    session = max(mine, key=lambda session: session.started)
    text = texts.get(session.id, "")
    marks = make_marking(question, [claim for claim in claims if claim.session == session.id])
    if not text.strip():
        state = "begun" if marks.next_point else "skipped"
    elif marks.is_complete:
        state = "marked"
    else:
        state = "written" if len(text) >= MIN_CHARACTERS or marks.points else "begun"
    return LatestAnswer(state, session, text, marks)
