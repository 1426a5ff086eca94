"""`learn review`: ask again, in a new variant, what is due, then what was missed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

import click

from grader.cli.options import WholeNumber, course_option
from grader.cli.quiz.context import REPORT, ask_to_resume, open_quiz, unfinished_sessions
from grader.cli.quiz.dialogue import Commands, QuizContext, hold_session
from grader.cli.quiz.render import next_lines
from grader.cli.quiz.resume import NAMES
from grader.model import SCHEMA, Answered
from grader.quiz.session.plan import keep_existing, plan_variants
from grader.quiz.session.schedule import ask_again, next_due, to_review
from grader.terminal.console import put, wrap
from grader.terminal.text import plural

AT_LEAST_ONE = WholeNumber(min=1)
COMMAND = "learn review"
MOST_HELP = "No more questions than this."
prove_option = click.option("--prove", is_flag=True, help="With each mark, the lines of torch that show the answer.")
json_lines_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object a line; see: learn quiz --help"
)


@click.command("review")
@click.option("--most", type=AT_LEAST_ONE, default=20, show_default=True, metavar="N", help=MOST_HELP)
@click.option("--new", "anew", is_flag=True, help="Begin another review, where one was broken off.")
@prove_option
@json_lines_option
@course_option
@click.pass_context
def review(ctx: click.Context, most: int, anew: bool, prove: bool, as_json: bool) -> None:
    """Answer what is due again, then what you missed.

    Each question comes in a new variant. The schedule is FSRS's, made from your own answers: what you missed comes
    first, what you knew comes ever later. What you were sure of and wrong about comes back within a week. It changes
    no score by itself. Behind what is due comes every other question of which your latest first try was not wholly
    right. Within 20 hours after you saw the answer it is practice, and counts for no score; do it again another day.

    \b
    Example:
      learn review
      learn review --most 5
    """
    with open_quiz(ctx, as_json, prove) as quiz:
        now = datetime.now().astimezone()
        logged = quiz.log.answers()
        answers = to_review(quiz.bank, logged)
        families = ask_again(answers, now)
        code = _ask_again(quiz, families[:most], anew, _commands(len(families) - most))
        if code is None:
            _show_nothing_due(answers, now, bool(logged), as_json)
    ctx.exit(code or 0)


def _commands(left: int) -> Sequence[tuple[str, str]]:
    more = (COMMAND, f"{plural(left, 'question')} more")
    return [*[more] * (left > 0), REPORT]


def _show_nothing_due(answers: Sequence[Answered], now: datetime, begun: bool, as_json: bool) -> None:
    coming = next_due(answers, now)
    if coming is None:
        why = "you knew what was asked, and it has few variants" if begun else "no question was answered yet"
        show_nothing(as_json, f"Nothing is due: {why}.", ("learn quiz", "asks some"), due=None)
        return
    day, count = coming
    says = f"Nothing is due. Next: {plural(count, 'question')} {_when(day, now.date())}."
    show_nothing(as_json, says, ("learn quiz", "asks more in the meantime"), due=day.isoformat())


def _when(day: date, today: date) -> str:
    days = (day - today).days
    return "tomorrow" if days == 1 else f"on {day:%a} {day.day} {day:%b %Y}, in {days} days"


# --- asking again -----------------------------------------------------------------------------------------------------


def _ask_again(quiz: QuizContext, families: Sequence[str], anew: bool, commands: Commands) -> int | None:
    """Hold a session on these families, or resume one of today; return the exit code, None if nothing is to be asked.

    A session of an earlier day is ended: the rest of it is due, or missed, still.
    """
    today = datetime.now().astimezone().date()
    planned = next(iter(unfinished_sessions(quiz.log, list(NAMES))), None)
    stale = planned is not None and planned.session.started.astimezone().date() != today
    if planned is not None and ask_to_resume(quiz, planned, NAMES[planned.session.mode], anew or stale):
        return hold_session(quiz, planned, COMMAND, commands, resumed=True)
    left = keep_existing(quiz.bank, families)
    if not left:
        return None
    topics = list(dict.fromkeys(quiz.bank.family(family).topic for family in left))
    planned = quiz.log.begin_session("review", topics, plan_variants(left, quiz.log.asked()))
    return hold_session(quiz, planned, COMMAND, commands)


def show_nothing(as_json: bool, says: str, command: tuple[str, str], **facts: object) -> None:
    """Say that there is nothing to ask, and what to do instead."""
    if as_json:
        from grader.cli.quiz.json_view import put_event

        put_event("nothing", schema=SCHEMA, says=says, **facts, next=[command[0]])
        return
    put(wrap(says))
    put()
    put("\n".join(next_lines([command])))
