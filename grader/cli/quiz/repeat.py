"""Ask again, in a new variant, what is due for review or was missed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from grader.cli.quiz.context import ask_to_resume, unfinished_sessions
from grader.cli.quiz.dialogue import Commands, QuizContext, begin_session, hold_session
from grader.cli.quiz.render import next_lines
from grader.cli.quiz.resume import COMMANDS, NAMES
from grader.model import SCHEMA
from grader.quiz.session.plan import keep_existing, plan_variants
from grader.terminal.console import put, wrap


def ask_again(quiz: QuizContext, mode: str, families: Sequence[str], anew: bool, commands: Commands) -> int | None:
    """Hold a session on these families, or resume one of today; return the exit code, None if nothing is to be asked.

    A session of an earlier day is ended: the rest of it is due, or missed, still.
    """
    today = datetime.now().astimezone().date()
    planned = next(iter(unfinished_sessions(quiz.log, [mode])), None)
    stale = planned is not None and planned.session.started.astimezone().date() != today
    if planned is not None and ask_to_resume(quiz, planned, NAMES[mode], anew or stale):
        return hold_session(quiz, planned, COMMANDS[mode], commands, resumed=True)
    left = keep_existing(quiz.bank, families)
    if not left:
        return None
    topics = list(dict.fromkeys(quiz.bank.family(family).topic for family in left))
    planned = begin_session(quiz.log, mode, topics, plan_variants(left, quiz.log.asked()))
    return hold_session(quiz, planned, COMMANDS[mode], commands)


def show_nothing(as_json: bool, says: str, command: tuple[str, str], **facts: object) -> None:
    """Say that there is nothing to ask, and what to do instead."""
    if as_json:
        from grader.cli.quiz.json_view import put_event

        put_event("nothing", schema=SCHEMA, says=says, **facts, next=[command[0]])
        return
    put(wrap(says))
    put()
    put("\n".join(next_lines([command])))
