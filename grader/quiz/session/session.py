"""One quiz session, without a screen: what is asked next, what an answer earns, what is asked again at the end.

A session is its plan and the log of its answers, so it can be resumed at any point. Every answer is logged before its
mark is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from grader.model import DONT_KNOW, Answered, QuizSession
from grader.quiz.bank.bank import Bank
from grader.quiz.bank.variants import make_variant
from grader.quiz.kinds import KINDS
from grader.quiz.model import Mark, Question, Unreadable
from grader.quiz.session.plan import Plan

MAX_ANSWER = 1000  # characters
MODES_WITHOUT_REPEAT = ("exam", "audit")  # a missed question is not asked again at the end


class AnswerLog(Protocol):
    """Where answers are logged."""

    def add_answer(self, answer: Answered) -> None: ...


class SessionLog(AnswerLog, Protocol):
    """Where sessions are logged."""

    def answers(self, session: str = "") -> list[Answered]: ...

    def salt(self) -> str: ...


class Turn(NamedTuple):
    """A question to be answered now: `number` of `total` in its round. `repeated`: it was missed before."""

    question: Question
    number: int
    total: int
    repeated: bool

    @property
    def says(self) -> str:
        """What is said above the first question that comes again; above any other nothing."""
        if not self.repeated or self.number > 1:
            return ""
        return "You missed one: it comes again." if self.total == 1 else f"You missed {self.total}: they come again."


def restore_session(bank: Bank, log: SessionLog, data: QuizSession, plan: Plan) -> Session:
    """Return a session with the answers that it has so far."""
    repeat = data.mode not in MODES_WITHOUT_REPEAT
    return Session(bank, log, data, plan, log.answers(data.id), log.salt(), repeat_missed=repeat)


class Session:
    """A session that is begun or resumed. `repeat_missed`: whether missed questions are asked again at the end."""

    def __init__(
        self,
        bank: Bank,
        log: AnswerLog,
        data: QuizSession,
        plan: Plan,
        answers: Sequence[Answered],
        salt: str,
        *,
        repeat_missed: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.bank, self.log, self.data, self.plan, self.salt = bank, log, data, plan, salt
        self.repeat_missed, self.now = repeat_missed, now
        self.answers = list(answers)

    @property
    def first_tries(self) -> dict[str, Answered]:
        """The first answer to each family of this session."""
        return {answer.family: answer for answer in self.answers if answer.first}

    def next_turn(self) -> Turn | None:
        """Return what to ask now; None when all is answered. Raises CourseError."""
        first = self.first_tries
        repeated = {answer.family for answer in self.answers if not answer.first}
        missed = [
            (family, attempt + 1)  # with other numbers; QuizLog.asked keeps this variant free
            for family, attempt in self.plan
            if self.repeat_missed and family in first and first[family].credit < 1
        ]
        # the course may be newer than the session, and not have a family any more
        for plan, done, is_repeat in ((self.plan, first.keys(), False), (missed, repeated, True)):
            for number, (family, attempt) in enumerate(plan, 1):
                if family not in done and self.bank.find_family(family):
                    return Turn(self._make_question(family, attempt), number, len(plan), is_repeat)
        return None

    def describe_progress(self) -> str:
        """Say how far an unfinished session is. Raises CourseError."""
        turn = self.next_turn()
        if turn and turn.repeated:
            return "all answered, what you missed comes again"
        return f"{len(self.first_tries)} of {len(self.plan)} answered"

    def answer(self, turn: Turn, typed: str, certainty: str = "", seconds: float = 0.0) -> Mark:
        """Log an answer and mark it.

        Args:
            certainty: One of CERTAINTIES, or "" where it was not asked for.
            seconds: How long the answer took.

        Raises:
            Unreadable: What was typed is no answer; nothing was logged.
        """
        question = turn.question
        mark = mark_answer(question, typed)
        answered = Answered(
            family=question.family,
            topic=question.topic,
            kind=question.kind,
            attempt=question.attempt,
            session=self.data.id,
            mode=self.data.mode,
            typed=typed.strip(),
            credit=mark.credit,
            guess=question.guess,
            certainty="" if typed.strip() == DONT_KNOW else certainty,
            tags=mark.tags,
            first=not turn.repeated,
            when=self.now(),
            seconds=round(seconds, 1),
        )
        self.log.add_answer(answered)
        self.answers.append(answered)
        return mark

    def question_of(self, answer: Answered) -> Question:
        """Return the question that an answer of this session was given to. Raises CourseError."""
        return self._make_question(answer.family, answer.attempt)

    def first_answers(self) -> list[tuple[Question, Answered]]:
        """Return the first answers with their questions, in the order of the plan."""
        first = self.first_tries
        return [
            (self._make_question(family, attempt), first[family])
            for family, attempt in dict(self.plan).items()
            if family in first and self.bank.find_family(family)
        ]

    def _make_question(self, family: str, attempt: int) -> Question:
        return make_variant(self.bank, self.bank.family(family), self.salt, attempt)


def mark_answer(question: Question, typed: str) -> Mark:
    """Mark what was typed. `?` earns nothing and shows no misconception. Raises Unreadable."""
    kind = KINDS[question.kind]
    if typed.strip() == DONT_KNOW:
        return Mark(0.0, kind.right_answer(question))
    if len(typed) > MAX_ANSWER:
        raise Unreadable(f"an answer has at most {MAX_ANSWER} characters")
    return kind.mark(question, typed)


def verdict_on(question: Question, mark: Mark, answer: Answered) -> str:
    """Return "Right", "Not known yet", "Partly right" or "Wrong"."""
    if mark.full:
        return "Right"
    if answer.is_unknown:
        return "Not known yet"
    return "Partly right" if mark.is_partly_right(question) else "Wrong"


def describe_part(question: Question, mark: Mark) -> str:
    """Say how many of its parts are right, and that they count."""
    count, says = {
        "order": (len(question.options), "steps are in order"),
        "multi": (len(question.options), "options are judged right"),
        "match": (len(question.parts), "pairs are right"),
        "shape": (len(question.parts), "shapes are right"),
    }.get(question.kind, (0, ""))
    if not count:
        return f"{mark.credit:.0%} of it, which counts"
    return f"{round(mark.credit * count)} of {count} {says}, and count for that share"


def is_sure_but_wrong(answer: Answered) -> bool:
    """Return True for a wrong answer given with certainty: it is best corrected at once and asked again in a week."""
    return answer.certainty == "sure" and answer.credit < 1
