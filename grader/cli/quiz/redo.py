"""`learn quiz redo`: ask everything missed again, with other numbers."""

from __future__ import annotations

import click

from grader.cli.options import course_option
from grader.cli.quiz.context import REPORT, open_quiz
from grader.cli.quiz.repeat import ask_again, show_nothing
from grader.quiz.session.schedule import missed


@click.command("redo")
@click.option("--new", "anew", is_flag=True, help="Begin again, where a sitting was broken off.")
@click.option("--prove", is_flag=True, help="With each mark, the lines of torch that show the answer.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line; see: learn quiz --help")
@course_option
@click.pass_context
def command(ctx: click.Context, anew: bool, prove: bool, as_json: bool) -> None:
    """Answer again what you missed, with other numbers.

    That is every question of which your latest first try was not wholly right: sure but wrong comes first.

    \b
    Example:
      learn quiz redo
    """
    with open_quiz(ctx, as_json, prove) as quiz:
        code = ask_again(quiz, "redo", missed(quiz.log.answers()), anew, [REPORT])
        if code is None:
            show_nothing(as_json, "There is nothing that you missed.", ("learn quiz", "asks more"))
    ctx.exit(code or 0)
