"""`learn quiz open`: questions that are answered in one's own words, and marked by oneself."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC

import click

from grader.cli.context import CourseContext, find_context
from grader.cli.options import course_option
from grader.cli.quiz.context import bank_of, room
from grader.cli.quiz.render import cut, next_lines
from grader.errors import UsageError
from grader.model import SCHEMA
from grader.quiz.assessment.misconceptions import contradicted
from grader.quiz.bank.bank import Bank
from grader.quiz.model import OpenQuestion, Topic
from grader.quiz.open_answers import Given, find_open, given, marked_claims, open_questions
from grader.store.quiz_log import QuizLog
from grader.terminal.console import paint, put, signs, width, wrap
from grader.terminal.text import ago, clean

BEFORE = 10  # columns: the sign and the number before a title, and the space after it
LEAST_TITLE = 24  # columns


@click.command("open")
@click.argument("number", metavar="[N]", required=False)
@click.option("--lines", is_flag=True, help="Write line by line, not in your editor.")
@click.option("--new", "anew", is_flag=True, help="Begin again, where an answer was begun.")
@click.option("--prove", is_flag=True, help="With each mark, the lines of torch that show the answer.")
@click.option("--prompt", is_flag=True, help="Print a prompt for a language model of your choice; ask nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else; ask nothing.")
@course_option
@click.pass_context
def command(
    ctx: click.Context, number: str | None, lines: bool, anew: bool, prove: bool, prompt: bool, as_json: bool
) -> None:
    """Answer open question N in your own words; without N, list them.

    You write in your editor (VISUAL or EDITOR), or line by line. Then you mark your own text, one key point at a time,
    see a model answer, and answer a question or two on what you claimed. No program scores the text: what you mark is
    shown as claimed, beside what was checked. Everything is kept as you go; the same command goes on.

    --prompt prints the question, its key points and your latest answer as a prompt for whatever language model you use,
    with the request to quote your text for each point. It sends nothing and changes no mark: paste it, or write it to a
    file as below.

    \b
    Example:
      learn quiz open
      learn quiz open 1
      learn quiz open 1 --prompt > prompt.txt
    """
    if prompt:
        _print_prompt(find_context(ctx), number, as_json)
        return
    if number is None or as_json:
        _show(find_context(ctx), number, as_json)
        return
    from grader.cli.quiz.open.answer import answer_open

    with room(ctx, False, prove) as place:
        code = answer_open(place, find_open(place.bank, number), by_lines=lines, anew=anew)
    ctx.exit(code)


def _print_prompt(place: CourseContext, number: str | None, as_json: bool) -> None:
    from grader.quiz.open_prompt import make_prompt

    if number is None or as_json:
        raise UsageError("--prompt needs the number or topic of a question, and no --json", next_step="learn quiz open")
    place.needed_workspace()
    bank = bank_of(place.course)
    topic = find_open(bank, number)
    assert topic.open is not None
    known, _ = _known(place, bank, {topic.open.number: topic})
    answer = known.get(topic.name)
    if answer is None or answer.state not in ("written", "marked"):
        what = f"you have not answered question {topic.open.number} yet"
        raise UsageError(what, next_step=f"learn quiz open {topic.open.number}")
    click.echo(make_prompt(topic.open, clean(answer.text)), nl=False)


# --- the list ---------------------------------------------------------------------------------------------------------


def _show(place: CourseContext, number: str | None, as_json: bool) -> None:
    bank = bank_of(place.course)
    topics = open_questions(bank)
    if number is not None:
        chosen = find_open(bank, number)
        topics = {n: topic for n, topic in topics.items() if topic is chosen}
    known, doubts = _known(place, bank, topics)
    if as_json:
        from grader.reports.formats.to_json import dump

        objects = [_object(topic, topic.open, known.get(topic.name)) for topic in topics.values() if topic.open]
        click.echo(dump({"schema": SCHEMA, "questions": objects}))
        return
    says = {name: _says(known.get(name), doubts.get(name, 0)) for name in (topic.name for topic in topics.values())}
    room = width() - BEFORE - max(map(len, says.values()), default=0)
    longest = max((len(topic.title) for topic in topics.values()), default=0)
    longest = min(room, longest) if room >= min(LEAST_TITLE, longest) else 0
    for n, topic in topics.items():
        put(_line(n, topic, known.get(topic.name), doubts.get(topic.name, 0), says[topic.name], longest))
    put()
    put("\n".join(next_lines([_next(topics, known)])))


def _known(
    place: CourseContext, bank: Bank, topics: Mapping[int, Topic]
) -> tuple[dict[str, Given], dict[str, int]]:  # fmt: skip
    """The latest answer by topic, and how many of its claims are in doubt."""
    if place.workspace is None:
        return {}, {}
    with place.store() as store:
        log = QuizLog(store.file)
        sessions, claims, answers, written = log.sessions(), log.claims(), log.answers(), log.written()
        texts = {session: text for session, _, text, _ in log.texts()}
    found = {topic.name: given(topic.open, sessions, texts, claims) for topic in topics.values() if topic.open}
    doubted = [each["topic"] for each in contradicted(bank, answers, marked_claims(bank, claims, written))]
    return {name: each for name, each in found.items() if each}, {name: doubted.count(name) for name in doubted}


def _line(number: int, topic: Topic, known: Given | None, doubts: int, says: str, longest: int) -> str:
    """One line, or two if `longest`, the columns for the title beside the state, is 0."""
    sign, style = (signs().passed, "good") if known and known.state == "marked" else (signs().skipped, "quiet")
    if doubts or (known and _is_open(known)):
        sign, style = signs().trouble, "strong"
    head = f"  {paint(sign, style)} {number:>2}  "
    if not longest:
        title = head + cut(topic.title, width() - BEFORE)
        return f"{title}\n{wrap(says, BEFORE - 2)}" if says else title
    return f"{head}{cut(topic.title, longest):<{longest}}  {says}".rstrip()


def _is_open(known: Given) -> bool:
    """Whether there is something left to do: a question that was skipped is over, wherever one stopped then."""
    return known.session.finished is None and known.state != "skipped"


def _says(known: Given | None, doubts: int) -> str:
    if known is None:
        return ""
    count, marks = len(known.marking.question.key_points), known.marking
    marked = f"{len(marks.points)} of {count} points marked" if marks.next_point else "not all marked"
    says = {
        "begun": "text begun" if known.text else "nothing written yet",
        "written": marked if marks.points else "written, not marked yet",
        "skipped": "skipped",
        "marked": f"{marks.credit:g} of {count} points claimed{', questions left' * _is_open(known)}",
    }[known.state]
    return f"{says}, {ago(known.session.started)}{f', {doubts} to check again' if doubts else ''}"


def _object(topic: Topic, question: OpenQuestion, known: Given | None) -> dict[str, object]:
    marks = known.marking if known else None
    return {
        "number": question.number, "topic": topic.name, "title": topic.title, "asks": question.asks,
        "state": known.state if known else "new", "text": known.text if known else "",
        "when": known.session.started.astimezone(UTC).isoformat() if known else None,
        "points": [
            {"id": point.id, "says": point.says, "mark": marks.points.get(point.id) if marks else None}
            for point in question.key_points
        ],
        "traps": [
            {"id": trap.id, "claims": trap.claims, "mark": marks.traps.get(trap.id) if marks else None}
            for trap in question.traps
        ],
    }  # fmt: skip


def _next(topics: Mapping[int, Topic], known: Mapping[str, Given]) -> tuple[str, str]:
    """A question that was begun, else the first that was not."""
    begun = [n for n, topic in topics.items() if topic.name in known and _is_open(known[topic.name])]
    fresh = [n for n, topic in topics.items() if topic.name not in known]
    number = next(iter([*begun, *fresh, *topics]), 1)
    return f"learn quiz open {number}", "goes on with it" if begun else "in your own words"
