"""`learn report`: show the assessment: predicted, verified, claimed and built side by side, never blended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.context import CourseContext, find_context, short_path
from grader.cli.learn.next_step import section, show_worth
from grader.cli.options import course_option, json_option
from grader.cli.output import FILE, put_json, write_file
from grader.cli.quiz.context import read_bank
from grader.cli.quiz.render import cut
from grader.cli.standing.report_explained import explain_lines
from grader.cli.standing.report_missed import missed_lines
from grader.course.learner_copy import release_of
from grader.errors import UsageError
from grader.quiz.assessment.assessment import LearnerLog, assess
from grader.quiz.assessment.calibration import LAST_SESSIONS
from grader.quiz.open_answers import marked_claims
from grader.store.quiz_log import QuizLog
from grader.terminal.console import paint, put, signs, width, wrap
from grader.terminal.text import bar, capitalize, name_questions, plural

if TYPE_CHECKING:
    from grader.model.picture import Picture

Assessment = Mapping[str, Any]

MAX_WEAKNESSES = 5
MAX_DOUBTS = 3
MIN_TITLE = 12  # columns of a title
COUNT_COLUMNS = 8
TOPIC_COLUMNS, FACET_COLUMNS = 34, 47  # of a line beside its title
MIN_BIAS = 0.05  # points, below which a bias is not mentioned


@click.command("report")
@click.option("--explain", is_flag=True, help="Show every mark, and all the arithmetic.")
@click.option("--missed", is_flag=True, help="Show every question that you missed, with the answer and why.")
@click.option("--html", "page", type=FILE, metavar="FILE", help="Write the report as one page to FILE.")
@click.option("--pictures", is_flag=True, help="On that page, draw what your exercises answer: it runs them.")
@json_option
@course_option
@click.pass_context
def command(ctx: click.Context, explain: bool, missed: bool, page: Path | None, pictures: bool, as_json: bool) -> None:
    """Show what you know, as far as it was checked.

    Four numbers from 0 to 10, which are never mixed: what you predicted before your last assessment; what is verified,
    by answers that a program checked, with a 90% interval; what you claimed of your own open answers; and what you
    built, the exercises that you solved. Then topics, what is asked for (why things are built as they are, working
    things out, ...), strengths, weaknesses and misconceptions by name (what you were sure of and wrong about comes
    first), how good your certainty is, and at most three things to do.

    Old answers fade: from the day on which FSRS has a question due again its answer weighs less.

    \b
    Example:
      learn report
      learn report --explain
      learn report --missed
      learn report --html report.html --pictures
    """
    if pictures and not page:
        raise UsageError("pictures are drawn on a page", next_step="learn report --html report.html --pictures")
    context = find_context(ctx)
    bank = read_bank(context.course)
    progress = context.progress()
    public = release_of(context.course) is not None
    with context.store() as store:
        log = QuizLog(store.database)
        if missed:
            for line in missed_lines(bank, log.answers(), log.sessions(), log.salt()):
                put(line)
            return
        claims = marked_claims(bank, log.claims(), log.written())
        assessment = assess(bank, LearnerLog(log.answers(), claims, log.sessions(), progress, public))
    if page:
        from grader.reports.pages.assessment_page import assessment_page

        begun = [each["lesson"] for each in assessment["built"]["exercises"]]
        text = assessment_page(assessment, context.course.title, _draw(context, begun) if pictures else {})
        write_file(page, text, "the page", next_step="learn report --html report.html")
    if as_json:
        put_json(assessment)
        return
    for line in explain_lines(assessment) if explain else report_lines(assessment):
        put(line)
    show_worth(context.course)
    if page:
        put(f"Written to {short_path(page.absolute())}.")


def _draw(context: CourseContext, names: Sequence[str]) -> Mapping[str, Sequence[Picture]]:
    from grader.cli.check.compared import draw_written  # here: nothing else of a report asks a judge

    return draw_written(context, names)


def report_lines(assessment: Assessment) -> Iterator[str]:
    """Yield the lines of the report."""
    yield from _numbers(assessment)
    yield from section("Topics", _topics(assessment))
    yield from section("What is asked for", _facets(assessment))
    if any(each["partly"] for each in (*assessment["topics"], *assessment["facets"])):
        yield paint(wrap("+ others were right in part, which counts as such", 2), "quiet")
    passed = paint(signs().passed, "good")
    yield from section("Strengths", (f"  {passed} {wrap(each, 4).lstrip()}" for each in assessment["strengths"]))
    yield from section("Weaknesses", _weaknesses(assessment))
    yield from section("Certainty", _certainty(assessment))
    yield from section("Next", _next(assessment["suggestions"]))


def _numbers(assessment: Assessment) -> Iterator[str]:
    checked = plural(assessment["answers"], "checked answer")
    yield f"{paint('Self-assessment', 'strong')}  {checked}{as_of(assessment['as_of'])}"
    yield ""
    verified = assessment["verified"]
    yield _number("Predicted", assessment["predicted"], "what you expected before your last assessment")
    yield _number("Verified", verified and verified["score"], _verified(assessment), "strong")
    claimed = assessment["claimed_of"]
    says = f"what you marked in your own words; {claimed['answered']} of {claimed['of']} open questions answered"
    yield _number("Claimed", assessment["claimed"], says)
    yield _number("Built", assessment["built"]["score"], _built(assessment["built"]))
    if (bias := assessment["bias"]) is not None and abs(bias) >= MIN_BIAS:
        yield ""
        yield wrap(_off(bias, len(assessment["history"][-LAST_SESSIONS:])), 2)


def as_of(days: Mapping[str, str] | None) -> str:
    """Say from when the answers that count are."""
    if days is None:
        return ""
    return f", as of {days['last']}" + (f" (the oldest of {days['first']})" if days["first"] != days["last"] else "")


def _verified(assessment: Assessment) -> str:
    verified = assessment["verified"]
    if not verified:
        return str(assessment["reason"])
    covered = f"{verified['covered']} of the assessment's {verified['topics']} topics covered"
    if verified["covered"] < verified["topics"]:
        covered += f", which are {', '.join(verified['names'])}; the interval allows for the others"
    return f"{verified['low']:.1f} to {verified['high']:.1f} with 90% certainty; {covered}"


def _built(built: Mapping[str, Any]) -> str:
    tries = "1 try" if built["tries"] == 1 else f"{built['tries']} tries"
    effort = f", in {tries} with {plural(built['hints'], 'hint')}" * bool(built["tries"])
    seen = [each["lesson"] for each in built["exercises"] if each["seen"]]
    shown = f"; solution seen first: {', '.join(seen)}" if seen else ""
    passed = "pass the public checks" if built["public"] else "solved"
    return f"{built['solved']} of {plural(built['of'], 'exercise')} {passed}{effort}{shown}"


def _off(bias: float, sessions: int) -> str:
    high = "high" if bias > 0 else "low"
    if sessions == 1:
        return f"In your last session your prediction was {abs(bias):.1f} too {high}."
    return f"Your predictions were {abs(bias):.1f} too {high} on average, over your last {sessions} sessions."


def _number(name: str, value: float | None, says: str, style: str = "") -> str:
    text = "  - " if value is None else f"{value:>4.1f}"
    filled = bar(0.0 if value is None else value / 10, 10, signs())
    head = f"  {name:<10} {paint(text, style) if style else text}  {filled}  "
    return head + wrap(says, 31).lstrip()


def _topics(assessment: Assessment) -> Iterator[str]:
    topics = [topic for topic in (*assessment["topics"], *assessment["also"]) if topic["items"]]
    longest = min(max((len(topic["title"]) for topic in topics), default=0), max(MIN_TITLE, width() - TOPIC_COLUMNS))
    for topic in topics:
        yield _topic(topic, longest)
    if beside := ", ".join(each["title"] for each in assessment["also"]):
        yield paint(wrap(f"Asked beside the assessment, whose numbers they do not count in: {beside}.", 2), "quiet")


def _topic(topic: Mapping[str, Any], longest: int) -> str:
    known = topic["score"]
    label = "mastered" if topic["mastered"] else topic["label"]
    style = {"solid": "good", "mastered": "good", "weak": "bad"}.get(label, "quiet")
    text = "too few to say" if not topic["covered"] else topic["so_far"] or label
    number = "  - " if known is None else f"{known:>4.1f}"
    return f"  {cut(topic['title'], longest):<{longest}}  {number}  {_counts(topic)}  {paint(text, style)}"


def _counts(each: Mapping[str, Any]) -> str:
    """Count the answers that were right, with a sign if others were right in part."""
    return f"{each['right']}{'+' * bool(each['partly'])} of {each['items']}".rjust(COUNT_COLUMNS)


def _facets(assessment: Assessment) -> Iterator[str]:
    facets = assessment["facets"]
    longest = max((len(each["title"]) for each in facets), default=0)
    is_narrow = longest > width() - FACET_COLUMNS
    for each in facets:
        is_known = each["score"] is not None
        interval = f"{each['low']:.1f} to {each['high']:.1f}" if is_known else ""
        score = f"{each['score']:>4.1f}" if is_known else "  - "
        text = {"solid": "strong", "too few": "too few to say"}.get(each["finding"], each["finding"])
        style = {"solid": "good", "weak": "bad"}.get(each["finding"], "quiet")
        title = capitalize(each["title"])
        if is_narrow:
            yield f"  {title}"
        line = f"  {'' if is_narrow else title.ljust(longest)}  {score}  {_counts(each)}  {interval:>11}"
        yield f"{line}  {paint(text, style)}" if text else line
    yield from filter(None, [paint(wrap(facet_sentence(facets), 2), "strong") if facets else ""])


def facet_sentence(facets: Sequence[Mapping[str, Any]]) -> str:
    """Say in a sentence what the learner is strong and weak in; "" where nothing can be said."""
    found = []
    for finding, word in (("solid", "Strong"), ("weak", "Weak")):
        named = [
            f"{each['title']} ({each['right']} of {each['items']})" for each in facets if each["finding"] == finding
        ]
        found += [f"{word}: {', '.join(named)}."] if named else []
    return " ".join(found)


def _weaknesses(assessment: Assessment) -> Iterator[str]:
    weak = assessment["weaknesses"]
    for each in weak[:MAX_WEAKNESSES]:
        sure = {0: "", 1: ", and were sure"}.get(each["sure"], f", and were sure {each['sure']} times")
        repeated = each["kind"] == "misconception" and len(each["families"]) > 1
        times = f", {len(each['families'])} times" if repeated else ""
        says = f"You {each['says']}{times}{sure}."
        yield f"  {paint(signs().failed, 'bad')} {wrap(says, 4).lstrip()}"
        yield paint(wrap(name_questions(each["families"]), 4), "quiet")
    if len(weak) > MAX_WEAKNESSES:
        yield f"    ... and {len(weak) - MAX_WEAKNESSES} more: learn report --explain"
    for each in assessment["contradicted"][:MAX_DOUBTS]:
        says = f"Check this again: you marked that your answer {each['says']}, and missed a question on it."
        yield f"  {paint(signs().trouble, 'strong')} {wrap(says, 4).lstrip()}"


def _certainty(assessment: Assessment) -> Iterator[str]:
    rows = [row for row in assessment["certainty"] if row["answers"]]
    for row in rows:
        share = row["right"] / row["answers"]
        counts = f"  {row['certainty']:<7} right {row['right']:>3} of {row['answers']:<3} {share:>4.0%}"
        stands = f"stands for {row['meant']:.0%}"
        yield f"{counts}   {paint(stands, 'quiet')}"
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
            yield paint(wrap(f"because of {name_questions(each['because'])}", 4), "quiet")
