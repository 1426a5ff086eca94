"""Asks again what was asked before: what is due, or what was missed. Always in a fresh variant."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from grader.cli.quiz.context import Room, goes_on, waiting
from grader.cli.quiz.dialogue import Commands, begin, hold
from grader.model import SCHEMA
from grader.quiz.session.plan import fresh, still_there
from grader.terminal.console import put, wrap

TITLES = {"redo": "what you missed", "review": "a review"}


def ask_again(
    here: Room, mode: str, families: Sequence[str], anew: bool, command: str, commands: Commands
) -> int | None:  # fmt: skip
    """Hold a sitting on these families, or go on with one that was broken off today: its exit code. None without any.

    One of another day is over: what was left of it is due, or missed, still.
    """
    today = datetime.now().astimezone().date()
    planned = next(iter(waiting(here.log, [mode])), None)
    stale = planned is not None and planned.session.started.astimezone().date() != today
    if planned is not None and goes_on(here, planned, TITLES[mode], anew or stale):
        return hold(here.desk, planned, command, commands, resumed=True)
    left = still_there(here.bank, families)
    if not left:
        return None
    topics = list(dict.fromkeys(here.bank.family(family).topic for family in left))
    planned = begin(here.log, mode, topics, fresh(left, here.log.asked()))
    return hold(here.desk, planned, command, commands)


def nothing(as_json: bool, says: str, command: tuple[str, str], **facts: object) -> None:
    """There is nothing to ask: said, with what to do in its place."""
    if as_json:
        from grader.cli.quiz.json_view import put_event

        put_event("nothing", schema=SCHEMA, says=says, **facts, next=[command[0]])
        return
    from grader.cli.quiz.render import next_lines

    put(wrap(says))
    put()
    put("\n".join(next_lines([command])))
