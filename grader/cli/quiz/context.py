"""The context of a quiz command: the course's questions, the learner's log, and the view for a person or a program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import click

from grader.cli.context import find_context
from grader.cli.quiz.dialogue import QuizContext
from grader.cli.quiz.prompt import Prompter
from grader.cli.quiz.render import wrap_paragraphs
from grader.cli.run_command import NOT_YET
from grader.errors import UsageError
from grader.model import Course
from grader.quiz.bank.bank import Bank
from grader.store.quiz_log import PlannedSession, QuizLog
from grader.terminal.text import ago

WHEN_ENDED = "If you end a session, the answers that you gave in it count, and the rest of it is dropped."
REPORT = ("learn report", "what you know, as far as it was checked")


def read_bank(course: Course) -> Bank:
    """Return the questions of a course. Raises UsageError where it has none, CourseError."""
    bank = Bank(course.root / "lessons")
    if not bank.names:
        raise UsageError("this course has no questions", where=str(bank.lessons), next_step="learn list")
    return bank


@contextmanager
def open_quiz(ctx: click.Context, as_json: bool, prove: bool = False, asks: bool = False) -> Iterator[QuizContext]:
    """Open the quiz of the learner's workspace. Raises WorkspaceError, CourseError, StoreError."""
    context = find_context(ctx)
    context.require_workspace()
    bank = read_bank(context.course)
    with context.store() as store:
        try:
            yield _make_quiz(bank, QuizLog(store.database), as_json, prove, asks)
        except EOFError:  # at a question that comes before those of the session
            if as_json:
                from grader.cli.quiz.json_view import put_event

                put_event("stopped", answered=0, questions=0, next="learn quiz")
            else:
                click.echo("Stopped before a question was asked.")
            ctx.exit(NOT_YET)


def _make_quiz(bank: Bank, log: QuizLog, as_json: bool, prove: bool, asks: bool) -> QuizContext:
    if as_json:
        from grader.cli.quiz.json_view import JsonView

        return QuizContext(bank, log, JsonView(asks), None, asks)
    from grader.cli.quiz.text_view import TextView

    prompter = Prompter()
    return QuizContext(bank, log, TextView(prompter, prove), prompter, prompter.interactive)


def ask_to_resume(quiz: QuizContext, planned: PlannedSession, title: str, anew: bool) -> bool:
    """Return True if an unfinished session is to be resumed; otherwise end it as it stands.

    A person at a terminal is asked; through a pipe it is always resumed. With `anew` it never is.
    """
    yes = not anew
    if yes and quiz.terminal is not None:
        state = f"{quiz.session(planned).describe_progress()}, begun {ago(planned.session.started)}"
        quiz.terminal.show(wrap_paragraphs(f"You are in the middle of {title}: {state}. {WHEN_ENDED}"))
        prompt = "Go on with it? Enter: yes, n: no, end it and begin another "
        yes = quiz.terminal.choose(prompt, {"y": "y", "yes": "y", "n": "n", "no": "n"}, "y", can_stop=True) == "y"
    if not yes:
        quiz.log.finish(planned.session.id, datetime.now(UTC))
    return yes


def session_title(quiz: QuizContext, topics: Sequence[str]) -> str:
    """Return what a session on these topics is called."""
    if len(topics) != 1:
        return "the assessment"
    known = (*quiz.bank.paths, *quiz.bank.collections)
    return f"“{quiz.bank.topic(topics[0]).title if topics[0] in known else topics[0]}”"


def session_command(topics: Sequence[str]) -> str:
    """Return the command that begins, and resumes, a session on these topics."""
    return f"learn quiz {topics[0]}" if len(topics) == 1 else "learn quiz"


def unfinished_sessions(log: QuizLog, modes: Sequence[str]) -> list[PlannedSession]:
    """Return the unfinished sessions of these modes, the latest first."""
    return [planned for planned in log.unfinished() if planned.session.mode in modes]
