"""Hold a quiz session: ask, keep each answer, show its mark. It can be stopped at any moment without losing an answer.

What the session looks like is up to a *view*: text_view for people, json_view for programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Any, NamedTuple, Protocol

from grader.cli.quiz.prompt import Prompter
from grader.cli.run_command import NOT_YET, STOPPED
from grader.model import CERTAINTIES, DONT_KNOW, Answered
from grader.quiz.bank.bank import Bank
from grader.quiz.kinds import KINDS
from grader.quiz.model import Mark, Question, Unreadable
from grader.quiz.session.session import Session, Turn, mark_answer, restore_session
from grader.store.quiz_log import PlannedSession, QuizLog

CERTAINTY_KEYS = {typed: word for word in CERTAINTIES for typed in (word, word[0])}
DEFAULT_CERTAINTY = "fairly"  # what Enter alone says
CHANGE_KEYS = ("change", "c")  # take the answer back
CERTAINTY_SIGNS = {"!": "sure", "?": "guess"}  # behind the answer

Commands = Sequence[tuple[str, str]]  # each with what it is for


class View(Protocol):
    """How a session is shown and answers are read. Methods that read raise EOFError when the input ends."""

    def begin(self, session: Session, resumed: bool) -> None: ...

    def ask(self, session: Session, turn: Turn) -> None: ...

    def read(self, session: Session, turn: Turn) -> tuple[str, str]:
        """Return what was typed, and its certainty if that was typed too. Raises Unreadable."""

    def show_unreadable(self, question: Question, reason: str) -> None: ...

    def ask_certainty(self, question: Question) -> str | None:
        """Return one of CERTAINTIES, "" where it is not asked for, or None to take the answer back."""

    def show_mark(self, session: Session, question: Question, answer: Answered, mark: Mark) -> None: ...

    def ask_prediction(self, when: str, past: str = "") -> float | None:
        """Return the score expected "before" the first question, or "after" the last one of an exam.

        `past` says by how much earlier predictions were off.
        """

    def announce_marks(self, count: int) -> None:
        """Prepare to show this many marks of an exam, one after the other."""

    def stop(self, session: Session, command: str) -> None: ...

    def end(self, summary: dict[str, Any], commands: Commands) -> None: ...


class QuizContext(NamedTuple):
    """What quiz commands work with. `prompter` is None where a program answers.

    `asks`: whether a person answers, who is asked what score they expect.
    """

    bank: Bank
    log: QuizLog
    view: View
    prompter: Prompter | None
    asks: bool

    @property
    def terminal(self) -> Prompter | None:
        """The prompter of a person at a terminal; None where the input is a pipe."""
        return self.prompter if self.prompter and self.prompter.interactive else None

    def session(self, planned: PlannedSession) -> Session:
        """Restore a session with the answers it has so far."""
        return restore_session(self.bank, self.log, planned.session, planned.plan)


def hold_session(
    quiz: QuizContext, planned: PlannedSession, command: str, commands: Commands, *, resumed: bool = False
) -> int:
    """Hold a session until its end or until it is stopped, and return the exit code.

    `command` resumes it once it was stopped; `commands` are suggested at its end.
    """
    session = quiz.session(planned)
    try:
        quiz.view.begin(session, resumed)
        ask_all(quiz.view, session)
        if planned.session.mode == "exam":
            _show_exam_marks(quiz, session)
    except (EOFError, KeyboardInterrupt) as stop:
        quiz.view.stop(session, command)
        return STOPPED if isinstance(stop, KeyboardInterrupt) else NOT_YET
    quiz.log.finish(planned.session.id, datetime.now(UTC))
    from grader.quiz.session.summary import summarize  # here, so that the first question is shown sooner

    summary = summarize(session, quiz.log.answers(), quiz.log.sessions())
    missed = ("learn review", "what you missed, with other numbers")
    known = missed[0] in dict(commands) or not summary["missed"]
    quiz.view.end(summary, [*commands, *[missed] * (not known)])
    return 0


def ask_all(view: View, session: Session) -> None:
    """Ask every question that is left. Each answer is logged before its mark is shown. Raises EOFError."""
    while turn := session.next_turn():
        mark = _ask_until_answered(view, session, turn)
        if session.data.mode != "exam":
            view.show_mark(session, turn.question, session.answers[-1], mark)


def _ask_until_answered(view: View, session: Session, turn: Turn) -> Mark:
    view.ask(session, turn)
    began = monotonic()
    while True:
        try:
            typed, certainty = view.read(session, turn)
            _refuse_wrong_certainty(turn.question, typed)
            mark_answer(turn.question, typed)
        except Unreadable as error:
            view.show_unreadable(turn.question, str(error))
            continue
        sure = certainty if certainty or typed.strip() == DONT_KNOW else view.ask_certainty(turn.question)
        if sure is not None:
            return session.answer(turn, typed, sure, monotonic() - began)


def _show_exam_marks(quiz: QuizContext, session: Session) -> None:
    from dataclasses import replace

    data = session.data
    if data.predicted_after is None and (expected := quiz.view.ask_prediction("after")) is not None:
        quiz.log.set_prediction_after(data.id, expected)
        session.data = replace(data, predicted_after=expected)
    answered = session.first_answers()
    quiz.view.announce_marks(len(answered))
    for question, answer in answered:
        quiz.view.show_mark(session, question, answer, mark_answer(question, answer.typed))


# --- parse what was typed ---------------------------------------------------------------------------------------------


def split_certainty(line: str) -> tuple[str, str]:
    """Split `48 | sure`, or `48!`, into ("48", "sure"); a line that ends with no certainty is all answer."""
    typed, bar, word = line.rpartition("|")
    certainty = CERTAINTY_KEYS.get(word.strip().lower(), "") if bar else ""
    if not certainty:
        line = line.strip()
        typed, certainty = line[:-1], CERTAINTY_SIGNS.get(line[-1:], "")
    return (typed.strip(), certainty) if typed.strip() and certainty else (line.strip(), "")


def _refuse_wrong_certainty(question: Question, typed: str) -> None:
    """Raise Unreadable for `answer | word` with an unknown word, unless answers to this question may have a bar."""
    answer, bar, _ = typed.rpartition("|")
    if bar and answer.strip() and "|" not in KINDS[question.kind].right_answer(question):
        raise Unreadable("certainty is guess, fairly or sure, as `48 | sure`")
