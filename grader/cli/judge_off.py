"""`learn judge off`: no model is asked any more."""

from __future__ import annotations

import os

import click

from grader.cli.context import here
from grader.cli.judge_place import AGREED, SETTINGS, VARIABLE
from grader.cli.options import course_option
from grader.store.quiz_log import QuizLog
from grader.terminal.console import put, warn


@click.command("off")
@course_option
@click.pass_context
def command(ctx: click.Context) -> None:
    """Switch the judge off.

    Where answers may be sent is forgotten. What it suggested before is kept, and so are your own marks.

    \b
    Example:
      learn judge off
    """
    place = here(ctx)
    place.needed_workspace()
    with place.store() as store:
        log = QuizLog(store.file)
        for fact in (SETTINGS, AGREED):
            if log.fact(fact):
                log.keep_fact(fact, "")
    put("The judge is off: no model is asked.")
    if os.environ.get(VARIABLE):
        warn(f"{VARIABLE} is still set in your environment, and sets it up: unset {VARIABLE}")
