"""`learn report`: show the assessment, with predicted, verified and claimed scores side by side, never blended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from grader.cli.context import find_context, short_path
from grader.cli.learn.next_step import section, show_worth
from grader.cli.learn.report_explained import explain_lines
from grader.cli.options import course_option, json_option
from grader.cli.output import FILE, put_json, write_file
from grader.cli.quiz.context import read_bank
from grader.quiz.assessment.assessment import LearnerLog, assess, count_exercises
from grader.quiz.assessment.calibration import LAST_SESSIONS
from grader.quiz.open_answers import marked_claims
from grader.store.quiz_log import QuizLog
from grader.terminal.console import paint, put, signs, wrap
from grader.terminal.text import bar, capitalize, plural

Assessment = Mapping[str, Any]

MAX_WEAKNESSES = 5
MAX_DOUBTS = 3
MIN_BIAS = 0.05  # points, below which a bias is not mentioned


@click.command("report")
@click.option("--explain", is_flag=True, help="Show every mark, and all the arithmetic.")
@click.option("--html", "page", type=FILE, metavar="FILE", help="Write the report as one page to FILE.")
@json_option
@course_option
@click.pass_context
def command(ctx: click.Context, explain: bool, page: Path | None, as_json: bool) -> None:
    """Show what you know, as far as it was checked.

    Three numbers from 0 to 10, which are never mixed: what you predicted; what is verified, by answers that a program
    checked, with a 90% interval; and what you claimed of your own open answers. Then strengths, misconceptions by name
    (what you were sure of and wrong about comes first), how good your certainty is, and at most three things to do.

    \b
    Example:
      learn report
      learn report --explain
      learn report --html report.html
    """
    context = find_context(ctx)
    bank = read_bank(context.course)
    progress = context.progress()
    with context.store() as store:
        log = QuizLog(store.database)
        claims = marked_claims(bank, log.claims(), log.written())
        assessment = assess(bank, LearnerLog(log.answers(), claims, log.sessions(), progress))
    if page:
        from grader.reports.pages.assessment_page import assessment_page

        text = assessment_page(assessment, context.course.title)
        write_file(page, text, "the page", next_step="learn report --html report.html")
    if as_json:
        put_json(assessment)
        return
    for line in explain_lines(assessment) if explain else _lines(assessment):
        put(line)
    show_worth(context.course)
    if page:
        put(f"Written to {short_path(page.absolute())}.")


def _lines(assessment: Assessment) -> Iterator[str]:
    yield from _numbers(assessment)
    yield from section("Topics", _topics(assessment))
    passed = paint(signs().passed, "good")
    yield from section("Strengths", (f"  {passed} {wrap(each, 4).lstrip()}" for each in assessment["strengths"]))
    yield from section("Weaknesses", _weaknesses(assessment))
    yield from section("Certainty", _certainty(assessment))
    yield from section("Next", _next(assessment["suggestions"]))


def _numbers(assessment: Assessment) -> Iterator[str]:
    checked = plural(assessment["answers"], "checked answer")
    if exercises := count_exercises(assessment):
        checked += f" and {plural(exercises, 'exercise')}"
    yield f"{paint('Self-assessment', 'strong')}  {checked}"
    yield ""
    verified = assessment["verified"]
    yield _number("Predicted", assessment["predicted"], "what you expected, when you were asked last")
    if verified:
        covered = f"{verified['covered']} of {verified['topics']} topics covered"
        says = f"{verified['low']:.1f} to {verified['high']:.1f} with 90% certainty; {covered}"
        yield _number("Verified", verified["score"], says, "strong")
    else:
        yield _number("Verified", None, assessment["reason"], "strong")
    yield _number("Claimed", assessment["claimed"], "what you marked in your own open answers")
    if (bias := assessment["bias"]) is not None and abs(bias) >= MIN_BIAS:
        yield ""
        yield wrap(_off(bias, len(assessment["history"][-LAST_SESSIONS:])), 2)


def _off(bias: float, sessions: int) -> str:
    high = "high" if bias > 0 else "low"
    if sessions == 1:
        return f"In your last sitting your prediction was {abs(bias):.1f} too {high}."
    return f"Your predictions were {abs(bias):.1f} too {high} on average, over your last {sessions} sittings."


def _number(name: str, value: float | None, says: str, style: str = "") -> str:
    text = "  - " if value is None else f"{value:>4.1f}"
    filled = bar(0.0 if value is None else value / 10, 10, signs())
    head = f"  {name:<10} {paint(text, style) if style else text}  {filled}  "
    return head + wrap(says, 31).lstrip()


def _topics(assessment: Assessment) -> Iterator[str]:
    topics = [topic for topic in (*assessment["topics"], *assessment["also"]) if topic["items"]]
    longest = max((len(topic["title"]) for topic in topics), default=0)
    for topic in topics:
        yield _topic(topic, longest)


def _topic(topic: Mapping[str, Any], longest: int) -> str:
    known = topic["score"]
    label = "mastered" if topic["mastered"] else topic["label"]
    style = {"solid": "good", "mastered": "good", "weak": "bad"}.get(label, "quiet")
    counts = f"{topic['credit']:g} of {topic['items']}"
    text = "too few to say" if not topic["covered"] else label
    number = "  - " if known is None else f"{known:>4.1f}"
    return f"  {topic['title']:<{longest}}  {number}  {counts:>9}  {paint(text, style)}"


def _weaknesses(assessment: Assessment) -> Iterator[str]:
    weak = assessment["weaknesses"]
    for each in weak[:MAX_WEAKNESSES]:
        sure = {0: "", 1: ", and were sure"}.get(each["sure"], f", and were sure {each['sure']} times")
        times = f", {len(each['families'])} times" if len(each["families"]) > 1 else ""
        says = f"You {each['says']}{times}{sure}."
        yield f"  {paint(signs().failed, 'bad')} {wrap(says, 4).lstrip()}"
        yield paint(wrap(", ".join(each["families"]), 4), "quiet")
    if len(weak) > MAX_WEAKNESSES:
        yield f"    ... and {len(weak) - MAX_WEAKNESSES} more: learn report --explain"
    for each in assessment["contradicted"][:MAX_DOUBTS]:
        says = f"Check this again: you marked that your answer {each['says']}, and missed a question on it."
        yield f"  {paint(signs().trouble, 'strong')} {wrap(says, 4).lstrip()}"


def _certainty(assessment: Assessment) -> Iterator[str]:
    rows = [row for row in assessment["certainty"] if row["answers"]]
    for row in rows:
        share = row["right"] / row["answers"]
        yield f"  {row['certainty']:<7} right {row['right']:>3} of {row['answers']:<3} {share:>4.0%}"
    if rows and assessment["brier"] is None:
        yield paint("  too few answers to say how good your certainty is", "quiet")
    elif rows:
        score = f"Brier score {assessment['brier']:.2f}"
        yield wrap(f"{score}. Lower is better: 0 is perfect, and whoever always says one half has 0.25.", 2)


def _next(suggestions: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for number, each in enumerate(suggestions, 1):
        says = f"{capitalize(each['says'])}."
        yield f"  {number} {wrap(says, 4).lstrip()}"
        yield f"    {paint(each['command'], 'command')}"
        if each["because"]:
            yield paint(wrap(f"because of {', '.join(each['because'][:3])}", 4), "quiet")
