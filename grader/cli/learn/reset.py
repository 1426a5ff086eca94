"""`learn reset`: put the empty exercise back."""

from __future__ import annotations

import sys

import click

from grader.cli.context import find_context, short_path
from grader.cli.lesson_parameters import lesson_argument
from grader.cli.options import course_option
from grader.errors import UsageError
from grader.terminal.console import confirm, paint, put, signs


@click.command("reset")
@lesson_argument()
@click.option("--yes", is_flag=True, help="Do not ask.")
@course_option
@click.pass_context
def command(ctx: click.Context, lesson: str, yes: bool) -> None:
    """Put the empty exercise of LESSON back in place.

    Your work is kept beside it.

    \b
    Example:
      learn reset softmax
      learn reset softmax --yes
    """
    context = find_context(ctx)
    chosen = context.lesson(lesson)
    workspace = context.require_workspace()
    path = workspace.exercise_path(chosen)
    if not yes and not _confirm(short_path(path), chosen.name):
        put("Nothing was changed.")
        return
    backup = workspace.reset(chosen)
    put(f"{paint(signs().passed, 'good')} {short_path(path)} is the empty exercise again.")
    if backup is not None:
        put(f"  Your work: {short_path(backup)}")


def _confirm(file: str, lesson: str) -> bool:
    """Ask whether to reset the file. Raises UsageError where there is no terminal."""
    try:
        return confirm(f"Put the empty exercise back in {file}? Your work is kept beside it.")
    except click.Abort:
        if sys.stdin.isatty():  # Ctrl-C or Ctrl-D at a terminal
            raise
        raise UsageError("there is no terminal to ask", next_step=f"learn reset {lesson} --yes") from None
