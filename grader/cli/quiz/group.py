"""`learn quiz`: ask questions on a topic, or on all topics of the assessment."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import click
from click.shell_completion import CompletionItem

from grader.cli.lazy_group import CommandWithCommands
from grader.cli.options import Number, course_option
from grader.cli.quiz.context import (
    REPORT,
    ask_to_resume,
    open_quiz,
    read_bank,
    session_command,
    session_title,
    unfinished_sessions,
)
from grader.cli.quiz.dialogue import QuizContext, hold_session
from grader.cli.quiz.prompt import Prompter
from grader.cli.quiz.render import header, wrap_paragraphs
from grader.cli.quiz.resume import QUIZ_MODES, choose_session, list_choices, resume
from grader.errors import SelfattendError, UsageError
from grader.quiz.model import FACETS
from grader.quiz.session.plan import LENGTHS, choose_families, count_minutes, find_topic, plan_variants
from grader.store.quiz_log import PlannedSession
from grader.terminal.console import warn
from grader.terminal.text import capitalize, plural

COMMANDS = {
    "list": "grader.cli.quiz.list",
    "open": "grader.cli.quiz.open.command",
    "redo": "grader.cli.quiz.repeat:review",
    "export": "grader.cli.quiz.export",
    "log": "grader.cli.quiz.log_export",
}
LENGTH = click.Choice(LENGTHS)


def _complete_topic(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from grader.cli.context import find_context

    try:
        bank = read_bank(find_context(ctx).course)
    except SelfattendError:
        return []  # the shell shows no messages while it completes
    begun = incomplete.lower().replace("-", "_")
    return [CompletionItem(name) for name in [*COMMANDS, *bank.paths, *bank.collections] if name.startswith(begun)]


@click.command("quiz", cls=CommandWithCommands, commands_in=COMMANDS)
@click.argument("topic", metavar="[TOPIC]", required=False, shell_complete=_complete_topic)
@click.option(
    "--length", type=LENGTH, default="short", show_default=True, help="Some questions of each topic, or more."
)
@click.option("--facet", type=click.Choice(list(FACETS)), help="Only questions that ask for this, on TOPIC or on all.")
@click.option("--exam", is_flag=True, help="No marks until all is answered.")
@click.option("--new", "anew", is_flag=True, help="Begin another session, where one was broken off.")
@click.option(
    "--predict", type=Number(0, 10), metavar="SCORE", help="What you expect; else you are asked at a terminal."
)
@click.option("--prove", is_flag=True, help="With each mark, the lines of torch that show the answer.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line for each event; see above.")
@click.option("--ask", "asks", is_flag=True, help="With --json, ask what is expected and how sure, too; see above.")
@course_option
@click.pass_context
def command(
    ctx: click.Context,
    topic: str | None,
    length: str,
    facet: str | None,
    exam: bool,
    anew: bool,
    predict: float | None,
    prove: bool,
    as_json: bool,
    asks: bool,
) -> None:
    """Answer questions on TOPIC, or take the assessment.

    First say what you will score: 0 is what guessing earns, 10 is everything known, 5 is half of it. Then type each
    answer (? is "I do not know", and costs no more than a guess) and how sure you are, or both at once: `48!` is sure,
    `48?` a guess. Every answer is kept at once: stop whenever you like with `q`, and the same command goes on. What you
    missed comes again at the end, with other numbers; only first tries count, and none within 20 hours after feedback
    on the same question.

    Through a pipe, standard input has one answer a line: `48`, `48!`, or `48 | fairly`. A line that is no answer is
    told why, and the next line is taken for the same question. What you expect is not asked for before the first one:
    say it with --predict. An exam reads one line more after the last answer, before its marks: the score from 0 to 10
    that you expect; it may be empty.

    With --json every event is an object on a line of its own: session, question, unreadable, mark, predict (in an exam,
    before its marks), then end; or stopped, where the input ends first. A line of the input may also be
    {"answer": "48", "certainty": "sure"}. With --ask as well, predict comes before a new session, too, and certainty
    after an answer without one: each reads a line, which may be empty.

    Exit code: 0 to the end, 1 stopped before, 2 wrong usage, 3 a fault of ours, 130 stopped by Ctrl-C.

    \b
    Example:
      learn quiz                      the assessment
      learn quiz softmax
      learn quiz --exam --length full
    """
    with open_quiz(ctx, as_json, prove, asks) as quiz:
        name = find_topic(quiz.bank, topic) if topic else None
        several = [] if name or facet or exam or anew else list_choices(quiz)
        planned = choose_session(quiz, several) if several else _find_unfinished(quiz, name, exam, facet)
        if planned is not None and several:
            _tell_unkept(predict)
            code = resume(quiz, planned)
        elif planned is not None and ask_to_resume(quiz, planned, session_title(quiz, planned.session.topics), anew):
            _tell_unkept(predict)
            code = hold_session(quiz, planned, session_command(planned.session.topics), [REPORT], resumed=True)
        else:
            topics = [name] if name else quiz.bank.assessed or quiz.bank.names
            code = _begin(quiz, topics, length, "exam" if exam else "quiz", predict, facet or "")
    ctx.exit(code)


def _tell_unkept(predict: float | None) -> None:
    """Say that what is predicted of a session that goes on is not kept."""
    if predict is not None:
        warn(f"--predict {predict:g} is not kept: this session has begun, and goes on. With --new another one begins.")


def _find_unfinished(quiz: QuizContext, name: str | None, exam: bool, facet: str | None) -> PlannedSession | None:
    """Return the session to resume: on that topic; without one an assessment or, at a terminal, any.

    A session on one facet is short, and begins anew.
    """
    if facet:
        return None
    left = unfinished_sessions(quiz.log, ["exam"] if exam else QUIZ_MODES)
    if name is not None:
        return next((planned for planned in left if planned.session.topics == (name,)), None)
    mixed = [planned for planned in left if len(planned.session.topics) > 1]
    return next(iter(mixed or (left if quiz.terminal else [])), None)


def _begin(
    quiz: QuizContext, topics: Sequence[str], length: str, mode: str, predicted: float | None, facet: str
) -> int:
    families = choose_families(quiz.bank, topics, length, quiz.log.tried(), Random(), facet)
    if facet:
        topics = list(dict.fromkeys(family.id.partition(".")[0] for family in families))
    if not families:
        raise UsageError(f"there is no question of the facet {facet} here", next_step="learn quiz list")
    plan = plan_variants([family.id for family in families], quiz.log.asked())
    if quiz.terminal is not None:
        _introduce(quiz, quiz.terminal, topics, len(plan), mode, facet)
    if quiz.asks and predicted is None and not facet:
        from grader.quiz.assessment.calibration import describe_past_bias  # here, since only some sessions need it

        past = describe_past_bias(quiz.log.sessions(), quiz.log.answers())
        predicted = quiz.view.ask_prediction("before", past)
    planned = quiz.log.begin_session(mode, topics, plan, predicted)
    return hold_session(quiz, planned, session_command(topics), [REPORT])


def _introduce(quiz: QuizContext, terminal: Prompter, topics: Sequence[str], count: int, mode: str, facet: str) -> None:
    title = quiz.bank.topic(topics[0]).title if len(topics) == 1 else capitalize(FACETS.get(facet, "the assessment"))
    on = f" on {len(topics)} topics" if len(topics) > 1 else ""
    marks = "The marks come at the end." if mode == "exam" else "You see each mark at once."
    minutes = plural(count_minutes(count), "minute")
    text = (
        f"{plural(count, 'question')}{on}, about {minutes}. {marks} Every answer is kept: stop with q whenever you "
        f"like, and `{session_command(topics)}` goes on."
    )
    terminal.clear()
    terminal.show([header(title, ""), "", *wrap_paragraphs(text), ""])
