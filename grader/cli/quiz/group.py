"""`learn quiz`: questions on a topic, or on all that the assessment covers."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import click
from click.shell_completion import CompletionItem

from grader.cli.group import CommandWithCommands
from grader.cli.options import course_option
from grader.cli.quiz.context import REPORT, Room, bank_of, command_of, goes_on, room, title_of, waiting
from grader.cli.quiz.dialogue import begin, hold
from grader.cli.quiz.resume import choices, choose_one, go_on
from grader.errors import SelfattendError
from grader.quiz.session.plan import LENGTHS, choose, find_topic, fresh
from grader.store.quiz_log import Planned
from grader.terminal.text import plural

COMMANDS = {
    "list": "grader.cli.quiz.list",
    "open": "grader.cli.quiz.open.list",
    "redo": "grader.cli.quiz.redo",
    "export": "grader.cli.quiz.export",
    "log": "grader.cli.quiz.log_export",
}
MODES = ("quiz", "exam")
SECONDS_EACH = 45  # that a question takes, to say how long a sitting will be
LAST = 3  # predictions that are looked back on
TELLING = 0.25  # a bias below this is none


def _topics(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from grader.cli.context import find_context

    try:
        bank = bank_of(find_context(ctx).course)
    except SelfattendError:
        return []  # a shell that completes has no room for messages
    begun = incomplete.lower().replace("-", "_")
    return [CompletionItem(name) for name in [*COMMANDS, *bank.paths] if name.startswith(begun)]


@click.command("quiz", cls=CommandWithCommands, commands_in=COMMANDS)
@click.argument("topic", metavar="[TOPIC]", required=False, shell_complete=_topics)
@click.option("--length", type=click.Choice(LENGTHS), default="short", show_default=True,
              help="Some questions of each topic, or more.")  # fmt: skip
@click.option("--exam", is_flag=True, help="No marks until all is answered.")
@click.option("--new", "anew", is_flag=True, help="Begin another sitting, where one was broken off.")
@click.option("--predict", type=click.FloatRange(0, 10), metavar="SCORE", help="What you expect; else you are asked.")
@click.option("--prove", is_flag=True, help="With each mark, the lines of torch that show the answer.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line for each event; see above.")
@course_option
@click.pass_context
def command(
    ctx: click.Context, topic: str | None, length: str, exam: bool, anew: bool, predict: float | None, prove: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Answer questions on TOPIC, or take the assessment.

    First say what you will score. Then type each answer (? is "I do not know") and how sure you are. Every answer is
    kept at once: stop whenever you like, and the same command goes on. What you missed comes again at the end, with
    other numbers; only first tries count.

    Through a pipe, standard input has one answer a line: `48`, or `48 | sure`. A line that is no answer is told why,
    and the next line is taken for the same question. An exam reads one line more after the last answer, before its
    marks: the score from 0 to 10 that you expect; it may be empty.

    With --json every event is an object on a line of its own: session, question, unreadable, mark, predict (in an exam,
    before its marks), then end; or stopped, where the input ends first. A line of the input may also be
    {"answer": "48", "certainty": "sure"}.

    Exit code: 0 to the end, 1 stopped before, 2 wrong usage, 3 a fault of ours, 130 stopped by Ctrl-C.

    \b
    Example:
      learn quiz                      the assessment
      learn quiz softmax
      learn quiz --exam --length full
    """
    with room(ctx, as_json, prove) as here:
        name = find_topic(here.bank, topic) if topic else None
        several = [] if name or exam or anew else choices(here)
        planned = choose_one(here, several) if several else _broken_off(here, name, exam)
        if planned is not None and several:
            code = go_on(here, planned)
        elif planned is not None and goes_on(here, planned, title_of(here, planned.session.topics), anew):
            code = hold(here.desk, planned, command_of(planned.session.topics), [REPORT], resumed=True)
        else:
            code = _begin(here, [name] if name else _assessed(here), length, "exam" if exam else "quiz", predict)
    ctx.exit(code)


def _assessed(here: Room) -> list[str]:
    return here.bank.assessed or here.bank.names


def _broken_off(here: Room, name: str | None, exam: bool) -> Planned | None:
    """The sitting to go on with: on that topic; without one an assessment, or, for somebody at a terminal, any."""
    left = waiting(here.log, MODES[1:] if exam else MODES)
    if name is not None:
        return next((planned for planned in left if planned.session.topics == (name,)), None)
    mixed = [planned for planned in left if len(planned.session.topics) > 1]
    return next(iter(mixed or (left if here.reader else [])), None)


def _begin(here: Room, topics: Sequence[str], length: str, mode: str, predicted: float | None) -> int:
    families = choose(here.bank, topics, length, here.log.tried(), Random())
    plan = fresh([family.id for family in families], here.log.asked())
    if here.reader is not None:
        _introduce(here, topics, len(plan), mode)
        if predicted is None:
            predicted = _ask_prediction(here)
    planned = begin(here.log, mode, topics, plan, predicted)
    return hold(here.desk, planned, command_of(topics), [REPORT])


def _introduce(here: Room, topics: Sequence[str], count: int, mode: str) -> None:
    """What comes, for somebody at a terminal."""
    from grader.cli.quiz.render import header, prose

    title = here.bank.topic(topics[0]).title if len(topics) == 1 else "The assessment"
    on = f" on {len(topics)} topics" if len(topics) > 1 else ""
    minutes = max(5, 5 * round(count * SECONDS_EACH / 60 / 5))
    marks = "The marks come at the end." if mode == "exam" else "You see each mark at once."
    text = (
        f"{plural(count, 'question')}{on}, about {minutes} minutes. {marks} Every answer is kept: stop with Ctrl-C "
        f"whenever you like, and `{command_of(topics)}` goes on."
    )
    assert here.reader is not None
    here.reader.clear()
    here.reader.show([header(title, ""), "", *prose(text), ""])


def _ask_prediction(here: Room) -> float | None:
    from grader.cli.quiz.text_view import ask_prediction

    assert here.reader is not None
    said = _past(here)
    here.reader.show([said] if said else [])
    return ask_prediction(here.reader, "What will you score, from 0 to 10? (Enter skips) ")


def _past(here: Room) -> str:
    """By how much the learner's last predictions were off; "" where there are none."""
    from grader.quiz.assessment.calibration import bias, history

    sessions = [session for session in here.log.sessions() if session.predicted is not None]
    past = history(sessions, here.log.answers()) if sessions else []
    off = bias(past, LAST)
    if off is None:
        return ""
    count = min(LAST, len(past))
    subject = f"Your last {count} predictions were" if count > 1 else "Your last prediction was"
    if abs(off) < TELLING:
        return f"{subject} right{' on average' if count > 1 else ''}."
    return f"{subject} {abs(off):.1f} too {'high' if off > 0 else 'low'}{' on average' if count > 1 else ''}."
