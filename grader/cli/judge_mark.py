"""`learn judge mark`: the marks that a model suggests for an open answer, beside one's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import click

from grader.cli.context import here
from grader.cli.judge_place import endpoint, keep_marks, marks_of, needed, require_passed
from grader.cli.options import course_option, json_option
from grader.cli.quiz.context import bank_of
from grader.cli.quiz.render import header, prose
from grader.errors import UsageError
from grader.model import SCHEMA
from grader.quiz.model import Topic
from grader.quiz.open_answers import SHORTEST, Given, find_open, given
from grader.store.quiz_log import QuizLog
from grader.terminal.console import paint, put, wrap
from grader.terminal.spinner import Working
from grader.terminal.text import clean


@click.command("mark")
@click.argument("number", metavar="N")
@click.option("--again", is_flag=True, help="Ask once more, where the model was asked before.")
@click.option("--raw", is_flag=True, help="Show the model's own replies, too.")
@click.option("--timeout", type=click.FloatRange(1, 3600), default=120, show_default=True, metavar="SECONDS",
              help="The longest that one reply may take.")  # fmt: skip
@json_option
@course_option
@click.pass_context
def command(ctx: click.Context, number: str, again: bool, raw: bool, timeout: float, as_json: bool) -> None:
    """Show what the model would mark, beside your own marks.

    N is the open question that you answered. Mark it yourself first. The model is asked three times; of what it says
    only that counts for which it quotes words that stand in your answer, and two of three must agree. It is a
    suggestion: your marks stay as they are, and the checked score knows nothing of it.

    \b
    Example:
      learn judge mark 1
    """
    place = here(ctx)
    place.needed_workspace()
    topic = find_open(bank_of(place.course), number)
    with place.store() as store:
        log = QuizLog(store.file)
        answer = _answer(log, topic)
        marks = {} if again else _before(log, answer)
        if not marks:
            marks = _asked(log, topic, answer, timeout)
    if as_json:
        from grader.reports.formats.to_json import dump

        click.echo(dump(_object(topic, answer, marks)))
        return
    for line in _lines(topic, answer, marks):
        put(line)
    for reply in marks["replies"] if raw else ():
        put("\n" + paint("The model wrote:", "quiet") + "\n" + clean(reply))


def _answer(log: QuizLog, topic: Topic) -> Given:
    """The latest answer, once its writer has marked it. Raises UsageError."""
    assert topic.open is not None
    texts = {session: text for session, _, text, _ in log.texts()}
    found = given(topic.open, log.sessions(), texts, log.claims())
    command = f"learn quiz open {topic.open.number}"
    if found is None or len(found.text) < SHORTEST:
        raise UsageError(f"you have not answered open question {topic.open.number} yet", next_step=command)
    if found.marking.next_point is not None:
        raise UsageError("mark your answer yourself first: that is what one learns from", next_step=command)
    return found


def _before(log: QuizLog, answer: Given) -> dict[str, Any]:
    """What this model said of this very text before; empty if it was not asked."""
    found = needed(log)
    marks = marks_of(log, answer.session.id)
    same = marks.get("model") == found.model and marks.get("base_url") == found.base_url
    return marks if same and marks.get("text") == _digest(answer.text) else {}


def _asked(log: QuizLog, topic: Topic, answer: Given, timeout: float) -> dict[str, Any]:
    from grader.quiz.judge.marks import judge

    assert topic.open is not None
    require_passed(log, needed(log))
    model = endpoint(log, timeout)
    with Working(f"Asking {model.settings.model}"):
        judgement = judge(model, topic.open, answer.text)
    marks = {
        "model": model.settings.model, "base_url": model.settings.base_url, "text": _digest(answer.text),
        "when": datetime.now(UTC).isoformat(timespec="seconds"), **judgement.to_dict(),
    }  # fmt: skip
    keep_marks(log, answer.session.id, marks)
    return marks


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _object(topic: Topic, answer: Given, marks: Mapping[str, Any]) -> dict[str, Any]:
    assert topic.open is not None
    suggested = {each["id"]: each for each in marks["points"]}
    return {
        "schema": SCHEMA, "number": topic.open.number, "topic": topic.name, "by": "machine-suggested",
        "model": marks["model"], "prompt": marks["prompt"], "when": marks["when"], "cut": marks["cut"],
        "points": [
            {"id": point.id, "yours": answer.marking.points.get(point.id), "suggested": suggested[point.id]["met"],
             "quote": suggested[point.id]["quote"], "votes": list(suggested[point.id]["votes"])}
            for point in topic.open.key_points if point.id in suggested
        ],
        "replies": list(marks["replies"]),
    }  # fmt: skip


def _lines(topic: Topic, answer: Given, marks: Mapping[str, Any]) -> Iterator[str]:
    assert topic.open is not None
    suggested = {each["id"]: each for each in marks["points"]}
    yield header(f"Question {topic.open.number}: {topic.title}", "machine-suggested")
    yield ""
    yield paint("  yours   model   key point", "quiet")
    differ = 0
    for point in topic.open.key_points:
        each = suggested.get(point.id)
        if each is None:
            continue
        yours = answer.marking.points.get(point.id, "-")
        differ += yours != each["met"]
        style = "strong" if yours != each["met"] else "quiet"
        first, *rest = prose(point.says, 18)
        met = f"{each['met']:<7}"
        yield f"  {yours:<7} {paint(met, style)} {first.lstrip()}"
        yield from rest
        if each["quote"]:
            yield paint(wrap(f"“{clean(each['quote'])}”", 18), "quiet")
    yield ""
    counted = f"{differ} of {len(topic.open.key_points)} differ" if differ else "No mark differs"
    yield wrap(f"{counted}. Suggested by {marks['model']}, three votes, prompt {marks['prompt']}: look at your text "
               "again where it differs. You decide; your marks and the checked score stay as they are.")  # fmt: skip
    if marks["cut"]:
        yield wrap("Only the first 4,000 characters of your answer were sent.")
