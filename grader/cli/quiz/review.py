"""`learn review`: ask again what is due."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

import click

from grader.cli.options import course_option
from grader.cli.quiz.context import REPORT, open_quiz
from grader.cli.quiz.dialogue import QuizContext
from grader.cli.quiz.repeat import ask_again, show_nothing
from grader.model import Answered
from grader.quiz.session.plan import keep_existing
from grader.quiz.session.schedule import due, next_due
from grader.terminal.text import plural

AT_LEAST_ONE = click.IntRange(min=1)


@click.command("review")
@click.option(
    "--most", type=AT_LEAST_ONE, default=20, show_default=True, metavar="N", help="No more questions than this."
)
@click.option("--new", "anew", is_flag=True, help="Begin another review, where one was broken off.")
@click.option("--prove", is_flag=True, help="With each mark, the lines of torch that show the answer.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line; see: learn quiz --help")
@course_option
@click.pass_context
def command(ctx: click.Context, most: int, anew: bool, prove: bool, as_json: bool) -> None:
    """Answer what is due again: each question in a new variant.

    The schedule is FSRS's, made from your own answers: what you missed comes first, what you knew comes ever later.
    What you were sure of and wrong about comes back within a week. It changes no score by itself.

    \b
    Example:
      learn review
      learn review --most 5
    """
    with open_quiz(ctx, as_json, prove) as quiz:
        now = datetime.now().astimezone()
        answers = quiz.log.answers()
        families = keep_existing(quiz.bank, due(answers, now))
        code = ask_again(quiz, "review", families[:most], anew, _commands(len(families) - most))
        if code is None:
            _show_nothing_due(quiz, answers, now, as_json)
    ctx.exit(code or 0)


def _commands(left: int) -> Sequence[tuple[str, str]]:
    more = ("learn review", f"{plural(left, 'question')} more {'is' if left == 1 else 'are'} due")
    return [*[more] * (left > 0), REPORT]


def _show_nothing_due(quiz: QuizContext, answers: Sequence[Answered], now: datetime, as_json: bool) -> None:
    coming = next_due([answer for answer in answers if keep_existing(quiz.bank, [answer.family])], now)
    if coming is None:
        show_nothing(as_json, "Nothing is due: no question was answered yet.", ("learn quiz", "asks some"), due=None)
        return
    day, count = coming
    says = f"Nothing is due. Next: {plural(count, 'question')} {_when(day, now.date())}."
    show_nothing(as_json, says, ("learn quiz", "asks more in the meantime"), due=day.isoformat())


def _when(day: date, today: date) -> str:
    days = (day - today).days
    return "tomorrow" if days == 1 else f"on {day:%a} {day.day} {day:%b %Y}, in {days} days"
