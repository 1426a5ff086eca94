"""One sitting, without a screen: what is asked next, what an answer earns, what comes again at the end.

A sitting is its plan and the log of its answers, so one that was broken off goes on where it was. Every answer is in
the log before its mark is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from grader.model import Answered, QuizSession
from grader.quiz.bank.bank import Bank
from grader.quiz.bank.variants import variant
from grader.quiz.kinds import KINDS
from grader.quiz.model import Mark, Question, Unreadable
from grader.quiz.session.plan import Plan, still_there

DONT_KNOW = "?"
LONGEST = 1000  # characters of an answer


class Keeper(Protocol):
    """Where answers are kept."""

    def record(self, answer: Answered) -> None: ...


class Turn(NamedTuple):
    """A question that is to be answered now. `number` of `total` in this round; `again` for one that was missed."""

    question: Question
    number: int
    total: int
    again: bool


class Sitting:
    """A sitting that is begun or gone on with. `again`: whether what was missed comes again at the end."""

    def __init__(
        self, bank: Bank, keeper: Keeper, session: QuizSession, plan: Plan, answers: Sequence[Answered], salt: str,
        *, again: bool = True, now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:  # fmt: skip
        self.bank, self.keeper, self.session, self.plan, self.salt = bank, keeper, session, plan, salt
        self.again, self.now = again, now
        self.answers = list(answers)

    @property
    def first(self) -> dict[str, Answered]:
        """The first answer to each family of this sitting."""
        return {answer.family: answer for answer in self.answers if answer.first}

    def turn(self) -> Turn | None:
        """What to ask now; None when all is answered. Raises CourseError."""
        done = self.first
        for number, (family, attempt) in enumerate(self.plan, 1):
            if family not in done and self._is_there(family):
                return Turn(self._question(family, attempt), number, len(self.plan), False)
        missed = self._missed()
        repeated = {answer.family for answer in self.answers if not answer.first}
        for number, (family, attempt) in enumerate(missed, 1):
            if family not in repeated and self._is_there(family):
                # with other numbers; the log's `asked` keeps this variant free for it
                return Turn(self._question(family, attempt + 1), number, len(missed), True)
        return None

    def answer(self, turn: Turn, typed: str, certainty: str = "", seconds: float = 0.0) -> Mark:
        """Keep an answer and give its mark. Raises Unreadable for what is no answer: then nothing is kept."""
        question = turn.question
        mark = self.mark(question, typed)
        answered = Answered(
            question.family, question.topic, question.kind, question.attempt, self.session.id, self.session.mode,
            typed.strip(), mark.credit, question.guess, "" if typed.strip() == DONT_KNOW else certainty, mark.tags,
            not turn.again, self.now(), round(seconds, 1),
        )  # fmt: skip
        self.keeper.record(answered)
        self.answers.append(answered)
        return mark

    def mark(self, question: Question, typed: str) -> Mark:
        """The mark of what was typed. `?` is an honest zero: it shows no misconception."""
        if typed.strip() == DONT_KNOW:
            return Mark(0.0, KINDS[question.kind].right(question))
        if len(typed) > LONGEST:
            raise Unreadable(f"an answer has at most {LONGEST} characters")
        return KINDS[question.kind].mark(question, typed)

    def answered(self) -> list[tuple[Question, Answered]]:
        """The first answers with their questions, in the order in which they were asked."""
        attempts = dict(self.plan)
        done = self.first
        return [
            (self._question(family, attempts[family]), done[family])
            for family in attempts
            if family in done and self._is_there(family)
        ]

    def _missed(self) -> list[tuple[str, int]]:
        if not self.again:
            return []
        done = self.first
        return [(family, attempt) for family, attempt in self.plan if family in done and done[family].credit < 1]

    def _is_there(self, family: str) -> bool:
        """Whether the course still has this family; it may be newer than the sitting."""
        return bool(still_there(self.bank, [family]))

    def _question(self, family: str, attempt: int) -> Question:
        return variant(self.bank, self.bank.family(family), self.salt, attempt)


def is_sure_but_wrong(answer: Answered) -> bool:
    """What is corrected best right after feedback, and most likely to be back a week later."""
    return answer.certainty == "sure" and answer.credit < 1
