"""Carries out a sitting: asks, keeps, tells; and stops at any moment without losing an answer.

What it looks like is the business of a *face*: words for people (quiz_words), events for programs (quiz_events).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from grader.cli.main import STOPPED
from grader.model import CERTAINTIES, QuizSession
from grader.quiz.bank.bank import Bank
from grader.quiz.kinds import KINDS
from grader.quiz.model import Mark, Question, Unreadable
from grader.quiz.session.session import DONT_KNOW, Sitting, Turn
from grader.store.quiz_log import Planned, QuizLog

if TYPE_CHECKING:
    from grader.cli.quiz.view import Face

NOT_YET = 1
ONCE = ("exam", "audit")  # modes in which a miss does not come again
SURE = {typed: word for word in CERTAINTIES for typed in (word, word[0])}
LOWEST, HIGHEST = 0.0, 10.0  # of a prediction

Commands = Sequence[tuple[str, str]]  # each with what it is for


class Desk(NamedTuple):
    """Where sittings are held: the questions, the log, and the face."""

    bank: Bank
    log: QuizLog
    face: Face

    def sitting(self, planned: Planned) -> Sitting:
        """A sitting as far as it has come."""
        session = planned.session
        return Sitting(self.bank, self.log, session, planned.plan, self.log.answers(session.id), self.log.salt(),
                       again=session.mode not in ONCE)  # fmt: skip


def begin(log: QuizLog, mode: str, topics: Sequence[str], plan: Sequence[tuple[str, int]],
          predicted: float | None = None) -> Planned:  # fmt: skip
    """A new sitting, kept before its first question is asked."""
    import os

    session = QuizSession(os.urandom(8).hex(), mode, tuple(topics), datetime.now(UTC), predicted=predicted)
    log.begin(session, plan)
    return Planned(session, tuple(plan))


def hold(desk: Desk, planned: Planned, command: str, commands: Commands, *, resumed: bool = False) -> int:
    """Hold a sitting to its end, or until it is broken off: the exit code. `command` goes on with it then."""
    sitting = desk.sitting(planned)
    try:
        desk.face.begins(sitting, resumed)
        ask_all(desk, sitting)
        if planned.session.mode == "exam":
            _marks_at_the_end(desk, sitting)
    except (EOFError, KeyboardInterrupt) as stop:
        desk.face.stops(sitting, command)
        return STOPPED if isinstance(stop, KeyboardInterrupt) else NOT_YET
    desk.log.finish(planned.session.id, datetime.now(UTC))
    from grader.quiz.session.summary import outcome  # here: the first question is there sooner

    result = outcome(sitting)
    missed = ("learn quiz redo", "everything you missed, with other numbers")
    desk.face.ends(result, [*commands, *[missed] * bool(result["missed"])])
    return 0


def ask_all(desk: Desk, sitting: Sitting) -> None:
    """Every question that is left. Each answer is kept before anything is said of it. Raises EOFError."""
    while turn := sitting.turn():
        mark = _answered(desk.face, sitting, turn)
        if sitting.session.mode != "exam":
            desk.face.tells(sitting, turn.question, sitting.answers[-1], mark)


def _answered(face: Face, sitting: Sitting, turn: Turn) -> Mark:
    face.asks(sitting, turn)
    began = monotonic()
    while True:
        try:
            typed, certainty = face.reads(sitting, turn)
            _refuse_certainty(turn.question, typed)
            sitting.mark(turn.question, typed)
        except Unreadable as error:
            face.unreadable(turn.question, str(error))
            continue
        sure = certainty if certainty or typed.strip() == DONT_KNOW else face.how_sure()
        if sure is not None:
            return sitting.answer(turn, typed, sure, monotonic() - began)


def _marks_at_the_end(desk: Desk, sitting: Sitting) -> None:
    from dataclasses import replace

    session = sitting.session
    if session.predicted_after is None and (expected := desk.face.predicts_after()) is not None:
        desk.log.predict_after(session.id, expected)
        sitting.session = replace(session, predicted_after=expected)
    asked = sitting.answered()
    desk.face.marks_follow(len(asked))
    for question, answer in asked:
        desk.face.tells(sitting, question, answer, sitting.mark(question, answer.typed))


# --- what is typed ----------------------------------------------------------------------------------------------------


def split_certainty(line: str) -> tuple[str, str]:
    """`48 | sure` as ("48", "sure"); what has no certainty behind its last bar is all answer."""
    typed, bar, word = line.rpartition("|")
    certainty = SURE.get(word.strip().lower(), "")
    return (typed.strip(), certainty) if bar and typed.strip() and certainty else (line.strip(), "")


def _refuse_certainty(question: Question, typed: str) -> None:
    """Raise Unreadable for what was meant as `answer | certainty`, and is none. The answer itself may have a bar."""
    answer, bar, _ = typed.rpartition("|")
    if bar and answer.strip() and "|" not in KINDS[question.kind].right(question):
        raise Unreadable("certainty is guess, fairly or sure, as `48 | sure`")


def to_prediction(typed: str) -> float:
    """A score from 0 to 10, as people type one: `7`, `7.5`, `7,5`, `7/10`. Raises Unreadable."""
    text = typed.strip().removesuffix("/10").strip().replace(",", ".")
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not LOWEST <= value <= HIGHEST:
        raise Unreadable("type a number from 0 to 10")
    return round(value, 1)
