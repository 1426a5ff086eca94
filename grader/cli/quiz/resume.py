"""Choose one of several unfinished quiz sessions, and resume it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from grader.cli.quiz.context import REPORT, WHEN_ENDED, session_command, session_title
from grader.cli.quiz.dialogue import QuizContext, hold_session
from grader.cli.quiz.prompt import STOP_KEY, Prompter
from grader.cli.quiz.render import wrap_paragraphs
from grader.store.quiz_log import PlannedSession
from grader.terminal.console import paint, wrap
from grader.terminal.text import ago, plural

QUIZ_MODES = ("quiz", "exam")
NAMES = {"redo": "what you missed", "review": "a review"}
PROMPT = "A number goes on with it (Enter: 1), e and a number ends it, n begins another, q stops "


def list_choices(quiz: QuizContext) -> list[PlannedSession]:
    """List the sessions to choose from, assessments first, then the latest.

    The list is empty through a pipe, and where `learn quiz` alone offers the one session that is unfinished.
    """
    left = [planned for planned in quiz.log.unfinished() if _can_resume(quiz, planned)] if quiz.terminal else []
    left.sort(key=lambda planned: planned.session.mode not in QUIZ_MODES or len(planned.session.topics) == 1)
    return left if len(left) > 1 or any(planned.session.mode not in QUIZ_MODES for planned in left) else []


def choose_session(quiz: QuizContext, left: Sequence[PlannedSession]) -> PlannedSession | None:
    """Ask which session to resume; None to begin another. Ends those that are to be ended. Raises EOFError."""
    assert quiz.terminal is not None
    waiting = list(left)
    while waiting:
        quiz.terminal.clear()
        quiz.terminal.show([paint(f"{plural(len(waiting), 'session')} not finished", "strong"), ""])
        quiz.terminal.show([line for number, each in enumerate(waiting, 1) for line in _lines(quiz, number, each)])
        quiz.terminal.show(["", *(paint(line, "quiet") for line in wrap_paragraphs(WHEN_ENDED)), ""])
        chosen, ends = _ask_number(quiz.terminal, len(waiting))
        if chosen is None:
            return None
        if not ends:
            return waiting[chosen]
        quiz.log.finish(waiting.pop(chosen).session.id, datetime.now(UTC))
    return None


def resume(quiz: QuizContext, planned: PlannedSession) -> int:
    """Resume a session of any mode, and return the exit code."""
    mode, topics = planned.session.mode, planned.session.topics
    if mode != "audit":
        return hold_session(
            quiz, planned, "learn review" if mode in NAMES else session_command(topics), [REPORT], resumed=True
        )
    from grader.cli.quiz.open.answer import answer_open  # here, because other sessions do not need it

    return answer_open(quiz, quiz.bank.topic(topics[0]), by_lines=False, anew=False)


def _ask_number(terminal: Prompter, count: int) -> tuple[int | None, bool]:
    """Ask for a session: its index, None for none of them, and whether it is to be ended. Raises EOFError."""
    while True:
        typed = terminal.ask(PROMPT).strip().lower()
        if typed in (STOP_KEY, "quit"):
            raise EOFError
        if typed == "n":
            return None, False
        ends = typed.startswith("e")
        number = typed.removeprefix("e").strip() if typed else "1"
        if number.isascii() and number.isdecimal() and 1 <= int(number[:9]) <= count:
            return int(number) - 1, ends
        says = f"Type a number from 1 to {count}, e and a number, n or q." if count > 1 else "Type 1, e1, n or q."
        terminal.show([paint(says, "quiet")])


def _lines(quiz: QuizContext, number: int, planned: PlannedSession) -> list[str]:
    session = planned.session
    title = NAMES.get(session.mode, session_title(quiz, session.topics))
    title = {"audit": "your own words on ", "exam": "exam: "}.get(session.mode, "") + title
    done = f"{quiz.session(planned).describe_progress()}, " if planned.plan else ""
    first, *rest = wrap(f"{title}: {done}begun {ago(session.started)}", 6).split("\n")
    return [f"  {number:>2}  {first.lstrip()}", *rest]


def _can_resume(quiz: QuizContext, planned: PlannedSession) -> bool:
    """Return True if the course still has the open question of the session."""
    if planned.session.mode != "audit":
        return True
    (name,) = planned.session.topics
    return name in quiz.bank.paths and quiz.bank.topic(name).open is not None
