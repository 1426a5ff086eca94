"""One answer to an open question, without a screen: its text, its marks, and the questions on what was claimed.

Each step is logged at once, so that an answer goes on where it was left, in the terminal or in the browser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Protocol

from grader.model import Answered, Claimed
from grader.quiz.model import KeyPoint, OpenQuestion, Topic
from grader.quiz.open_answers import Marking, choose_audits, make_marking
from grader.quiz.session.plan import Plan, plan_variants

MODE = "audit"


class OpenLog(Protocol):
    """Where texts, claims and answers are logged."""

    def answers(self, session: str = "") -> list[Answered]: ...

    def claims(self, session: str = "") -> list[Claimed]: ...

    def text(self, session: str) -> str: ...

    def save_text(self, session: str, topic: str, text: str, when: datetime) -> None: ...

    def add_claims(self, claims: Sequence[Claimed]) -> None: ...

    def finish(self, session: str, when: datetime) -> None: ...

    def set_plan(self, session: str, plan: Sequence[tuple[str, int]]) -> None: ...

    def tried(self) -> Mapping[str, int]: ...

    def asked(self) -> Mapping[str, int]: ...


class OpenAnswer:
    """An answer to the open question of a topic, in the session that was begun for it."""

    def __init__(self, log: OpenLog, topic: Topic, question: OpenQuestion, session: str) -> None:
        self.log, self.topic, self.question, self.session = log, topic, question, session

    @property
    def text(self) -> str:
        return self.log.text(self.session)

    @property
    def marking(self) -> Marking:
        """The marks so far."""
        return make_marking(self.question, self.log.claims(self.session))

    @property
    def is_marked(self) -> bool:
        """Whether marking has begun: then the text stays as it is."""
        return bool(self.marking.points or self.marking.traps)

    @property
    def is_skipped(self) -> bool:
        """Whether the question was skipped: marked, without a text."""
        return bool(self.marking.points) and not self.text

    @property
    def missing_points(self) -> list[KeyPoint]:
        """The key points that the text leaves out, or has in part."""
        return [point for point in self.question.key_points if self.marking.points.get(point.id) != "yes"]

    @property
    def doubted_points(self) -> list[KeyPoint]:
        """The points claimed of which a question was answered wrongly."""
        wrong = {answer.family for answer in self.log.answers(self.session) if answer.credit < 1}
        doubted = {point for family in self.topic.families if family.id in wrong for point in family.audits}
        return [point for point in self.marking.claimed_points if point.id in doubted]

    def keep(self, text: str) -> None:
        """Log the text as it is now."""
        self.log.save_text(self.session, self.topic.name, text, datetime.now(UTC))

    def claim(self, point: str, mark: str, trap: bool) -> None:
        """Log the mark of a key point or a trap."""
        self.log.add_claims([self._make_claim(point, mark, trap)])

    def skip(self) -> None:
        """Leave the question out.

        It is finished before its model answer is shown: who stops there has skipped it, and may begin again.
        """
        self.keep("")
        self.log.add_claims([self._make_claim(point.id, "no", False) for point in self.question.key_points])
        self.finish()

    def plan_audits(self) -> Plan:
        """Plan a question or two on the points that were claimed."""
        claimed = [point.id for point in self.marking.claimed_points]
        families = choose_audits(self.topic, claimed, self.log.tried())
        plan = plan_variants([family.id for family in families], self.log.asked())
        self.log.set_plan(self.session, plan)
        return plan

    def finish(self) -> None:
        self.log.finish(self.session, datetime.now(UTC))

    def _make_claim(self, point: str, mark: str, trap: bool) -> Claimed:
        return Claimed(self.topic.name, point, mark, trap, self.session, datetime.now(UTC))
