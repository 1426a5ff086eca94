"""`grader items`: show what learners' answers say of the quiz's questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from grader.cli.context import load_course, short_path
from grader.cli.options import course_option, json_option
from grader.cli.output import FILE, put_json, write_file
from grader.errors import SelfattendError, UsageError
from grader.model import SCHEMA
from grader.reports.statistics.item_analysis import MIN_TRIED
from grader.terminal.console import paint, put, warn, wrap
from grader.terminal.text import capitalize, clean, plural

MAX_NAME_COLUMNS = 38
MAX_TAGS = 4  # of one item
LEARNERS = 400  # that are simulated for each true score


@click.command("items")
@click.argument("logs", metavar="[LOGS]...", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--html", "page", type=FILE, metavar="FILE", help="Write the table as one page to FILE.")
@click.option("--simulate", is_flag=True, help="Without LOGS: bias and coverage of the assessment's score.")
@json_option
@course_option
@click.pass_context
def command(ctx: click.Context, logs: tuple[Path, ...], page: Path | None, simulate: bool, as_json: bool) -> None:
    """Merge learners' logs of the quiz, and show how its questions do.

    LOGS are files that learners wrote with `learn quiz log --out FILE`, or folders of them. The first answer of each
    learner to each question counts; a learner whose log is there twice is one. A file is the log of one learner:
    lines that are no answer, or another learner's, are left out and named (though who copies somebody's whole log
    can add to it). For each question: how many had it right, with a 95% interval; whether they do well on the rest
    too; which misconceptions showed; how often somebody was sure and wrong; whether some drawn value makes it
    another question. The reliability of a form is shown if all learners answered the same questions. Below 30
    learners there are counts and nothing else. Nobody is ranked.

    With --simulate no log is read: learners of whom it is known what they know take the assessment with the course's
    own questions, some guessing, some typing ?. It prints how far their score is from the truth on average (bias), and
    how often its 90% interval holds the truth (coverage).

    \b
    Example:
      grader items logs/
      grader items logs/ --html items.html
      grader items --simulate
    """
    if simulate == bool(logs):
        what = "--simulate reads no logs" if simulate else "there are no logs to read"
        raise UsageError(what, next_step="grader items logs/, or grader items --simulate")
    if simulate:
        _show_simulation(ctx, as_json)
        return
    from grader.reports.statistics.quiz_item_analysis import analyse
    from grader.reports.statistics.quiz_logs import log_files, read_logs

    found = read_logs(log_files(logs))
    for left_out in found.left_out:
        warn(clean(f"left out: {left_out.where}: {left_out.why}"))
    table = analyse(found.answers)
    if page:
        from grader.reports.pages.quiz_items_page import quiz_items_page

        next_step = "name another file with --html"
        write_file(page, quiz_items_page(table, _misconceptions(ctx)), "the page", next_step=next_step)
    if as_json:
        put_json(table)
        return
    for line in _lines(table):
        put(line)
    if page:
        put(f"Written to {short_path(page.absolute())}.")


def _show_simulation(ctx: click.Context, as_json: bool) -> None:
    from grader.cli.grader.items_simulated import simulation_lines
    from grader.cli.quiz.context import read_bank
    from grader.quiz.assessment.simulation import simulate

    bank = read_bank(load_course(ctx))
    try:
        found = simulate(bank, LEARNERS)
    except ValueError as error:
        what = f"this course has too few questions for an assessment: {error}"
        raise UsageError(what, where=str(bank.lessons), next_step="grader audit") from None
    if as_json:
        put_json({"schema": SCHEMA, **found})
        return
    for line in simulation_lines(found):
        put(line)


def _misconceptions(ctx: click.Context) -> Mapping[str, str]:
    """Return the sentence of each misconception; {} without a course."""
    from grader.quiz.bank.bank import Bank

    try:
        bank = Bank(load_course(ctx).root / "lessons")
        return {each.id: each.says for topic in bank.topics() for each in topic.misconceptions}
    except SelfattendError:
        return {}


# --- in the terminal --------------------------------------------------------------------------------------------------


def _lines(table: Mapping[str, Any]) -> Iterator[str]:
    people, answers = plural(table["learners"], "learner"), plural(table["answers"], "answer")
    yield paint(f"{people}, {answers}, {table['first_answers']} of them first ones", "strong")
    if table["reason"]:
        yield wrap(f"Counts only: {table['reason']}.")
    yield ""
    yield from _items(table["items"])
    if table["reason"]:
        return
    yield from _findings(table)
    yield from _reliability(table["reliability"])


def _items(items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    longest = min(MAX_NAME_COLUMNS, max((len(item["family"]) for item in items), default=8))
    head = f"{'question':<{longest}} {'n':>4} {'right':>5} {'p':>5} {'95%':>9} {'r':>5} {'sure':>4} {'s':>4}"
    yield paint(head, "quiet")
    for item in items:
        name = item["family"] if len(item["family"]) <= longest else f"{item['family'][: longest - 3]}..."
        p = "    -" if item["p"] is None else f"{item['p']:>5.2f}"
        interval = " " * 9 if item["p"] is None else f"{item['low']:.2f}-{item['high']:.2f}"
        r = "    -" if item["rest"] is None else f"{item['rest']:>5.2f}"
        seconds = "   -" if item["seconds"] is None else f"{item['seconds']:>4.0f}"
        line = f"{name:<{longest}} {item['n']:>4} {item['right']:>5} {p} {interval} {r} {item['sure_but_wrong']:>4}"
        yield f"{line} {seconds}"
    yield ""
    legend = (
        "p: share right, with its interval. r: correlation with the rest. sure: wrong and sure of it. s: median "
        f"seconds. A dash: fewer than {MIN_TRIED} learners, or too few on one side."
    )
    yield paint(wrap(legend), "quiet")


def _findings(table: Mapping[str, Any]) -> Iterator[str]:
    """List what to look at, the key first."""
    from grader.reports.statistics.quiz_item_analysis import FLAGS

    for flag, says in FLAGS.items():
        flagged = [item for item in table["items"] if flag in item["flags"]]
        if flagged:
            yield ""
            yield paint(capitalize(says), "strong")
            yield from (wrap(_because(item, flag), 2) for item in flagged)
    if table["compared"]:
        many = f"{table['compared']} values that were drawn were compared"
        chance = f"{many}; about one question in twenty stands out by chance."
        yield from ("", paint(wrap(chance), "quiet"))
    yield from _misconception_lines(table["items"])


def _because(item: Mapping[str, Any], flag: str) -> str:
    from grader.reports.statistics.quiz_item_analysis import RARE_OPTION

    if flag in ("distractor", "tempting"):
        few = [tag for tag in item["tags"] if tag["option"] and tag["share"] is not None and tag["share"] < RARE_OPTION]
        tags = few if flag == "distractor" else [tag for tag in item["tags"] if tag["tempting"]]
        return f"{item['family']}: " + ", ".join(f"{tag['tag']} ({tag['shown']} of {tag['of']})" for tag in tags)
    if flag == "variant":
        found = [
            f"{each['value']} ({each['right']} of {each['n']} right, else {each['others_right']} of {each['others']})"
            for each in item["variants"]
        ]
        return f"{item['family']}: " + ", ".join(found)
    value = f"p {item['p']:.2f}" if flag in ("hard", "easy") else f"r {item['rest']:.2f}"
    return f"{item['family']}: {value}, n {item['n']}"


def _misconception_lines(items: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    shown_tags = [(item, [tag for tag in item["tags"] if tag["shown"]][:MAX_TAGS]) for item in items]
    if any(tags for _, tags in shown_tags):
        yield from ("", paint("Misconceptions that showed", "strong"))
    for item, tags in shown_tags:
        if tags:
            counts = ", ".join(f"{tag['tag']} {tag['shown']} of {tag['of']}" for tag in tags)
            yield wrap(f"{item['family']}: {counts}", 2)


def _reliability(forms: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from ("", paint("Reliability", "strong"))
    if not forms:
        yield wrap("None can be said: there is no form of which all learners answered the same questions.", 2)
    for form in forms:
        name = form["topic"] or "all questions"
        measure = f"{form['measure']} {form['value']:.2f} of {form['items']} items and {form['learners']} learners"
        error = f"standard error of measurement {form['sem']:.2f} items, {form['sem_of_10']:.1f} of 10."
        yield wrap(f"{name}: {measure}; {error}", 2)
