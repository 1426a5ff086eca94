"""`grader export`: fill scores into the gradebook that a learning platform exported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from grader.cli.context import short_path
from grader.cli.lesson_parameters import graded_lesson
from grader.cli.options import Number, json_option
from grader.cli.output import put_json, refuse_existing
from grader.errors import UsageError
from grader.files import explain_unwritable, replacing, resolved
from grader.judge.own_limits import within_limits
from grader.model import SCHEMA
from grader.reports.record_view import MAX_POINTS
from grader.terminal.console import paint, put, warn, wrap
from grader.terminal.text import capitalize, clean, plural

if TYPE_CHECKING:
    from grader.reports.gradebook.fill_column import Filled

FILE = click.Path(path_type=Path)
FILL_SECONDS, FILL_MB = 600.0, 4096  # for a gradebook of any size, whatever its cells hold
LOOK_AT_SIZE = "look in the gradebook for far more lines, or columns, than there should be"
MAX_LINES = 20  # of one list of people
IMPORT = {
    "canvas": "in Canvas: Grades, Import, and look at what it says will change",
    "moodle": 'in Moodle: "Upload grading worksheet" for a worksheet, Grades, Import, CSV file for a grade export',
}


@click.command("export")
@click.argument("results", metavar="DIR|ASSIGNMENT.toml", type=FILE)
@click.option("--canvas", type=FILE, metavar="FILE", help="The gradebook that Canvas exported.")
@click.option("--moodle", type=FILE, metavar="FILE", help="Moodle's grading worksheet, or its grade export as CSV.")
@click.option("--out", type=FILE, metavar="FILE", help="Where the filled-in file goes.")
@click.option(
    "--assignment",
    default="",
    metavar="HEADING",
    help="The column to fill in: its heading, with or without Canvas's number in brackets, or the number.",
)
@click.option("--lesson", metavar="NAME", help="The score of this lesson; without it, of the whole submission.")
@click.option(
    "--out-of",
    type=Number(0, MAX_POINTS, min_open=True),
    metavar="N",
    help="What a 10.0 is worth; without it the file's own maximum, or 100.",
)
@click.option(
    "--scale",
    type=click.Choice(["points", "score"]),
    default="points",
    show_default=True,
    help="The share of the points earned, or score / 10, of which nothing right has a tenth.",
)
@click.option("--missing-as-zero", is_flag=True, help="Count what was not handed in as 0, in place of leaving it out.")
@click.option("--keep", is_flag=True, help="Leave grades alone that are in the file already.")
@click.option("--match-by", default="", metavar="HEADING", help="The column that holds your learners' ids.")
@click.option("--force", is_flag=True, help="Replace the file at --out.")
@json_option
@click.pass_context
def command(ctx: click.Context, /, results: Path, force: bool, as_json: bool, **more: Any) -> None:
    """Fill in your platform's own gradebook with the scores in DIR.

    Export the gradebook, give it to this command, and import what comes out: one column is changed, every other byte
    stays. A score is 1 + 9 x points earned / points possible, and the gradebook gets N x points earned / points
    possible: all N for a 10.0, and 0 for a 1.0. With --scale score it is N x score / 10, and a 1.0 is worth a tenth.

    People are found by id, login, e-mail address or name. Nobody is guessed: whoever fits several is listed, and left
    out. So is every submission that lacks a lesson, every one that could not be read, and every one on which the grader
    itself failed; the last two are never a zero. Of several attempts the last counts.

    Moodle's worksheet has a column "Feedback comments": it gets what to work on, where nobody has written in it.

    With a file ASSIGNMENT.toml for DIR, the results, what counts, and options that are not given are as it says. What
    it deducts for late work is deducted here, and listed; so is whoever's work came at a time that nothing says.

    Of a run that was stopped you get what is there, and are told what is lacking. --missing-as-zero is refused then:
    what was not graded yet is not missing.

    \b
    Example:
      grader export results --canvas Grades-CS7.csv --lesson attention --out upload.csv
      grader export results --canvas Grades-CS7.csv --assignment "Homework 2" --out upload.csv
      grader export homework2.toml
      grader export results --moodle Grades-HW2.csv --missing-as-zero --out upload.csv
    """
    if results.suffix == ".toml":
        results = _read_assignment(ctx, results, more)
    out = more.pop("out")
    platform, source = _source(more.pop("canvas"), more.pop("moodle"))
    if out is None:
        raise click.UsageError("Missing option '--out'.", ctx=ctx)
    _check_out(out, source, force)
    with within_limits(FILL_SECONDS, FILL_MB, f"filling in {source}", LOOK_AT_SIZE):
        filled, unfinished = _fill(platform, source, results, **more)
    if more["scale"] == "score":
        warn("with --scale score a 1.0, where nothing is right, is worth a tenth of the points")
    with explain_unwritable("the file", out), replacing(out, private=True) as temporary:
        temporary.write_bytes(filled.content)
    if as_json:
        put_json({"schema": SCHEMA, "out": str(out), "unfinished": unfinished, **filled.to_object()})
    else:
        if unfinished != 0:
            lacking = f"{unfinished_text(unfinished)}; their grades are not in the file, or those of earlier hand-ins"
            warn(f"{lacking} (grader run ... --out {results} --resume)")
        _print_report(filled, out, platform)


def _read_assignment(ctx: click.Context, path: Path, options: dict[str, Any]) -> Path:
    """Return the results of an assignment; set what counts, and the options that were not given."""
    from grader.batch.assignment.assignment_file import read_assignment

    found = read_assignment(path)
    if found.out is None:
        raise UsageError('"out" is missing: where the results are', where=str(path), next_step='out = "results"')
    rule = dict(found.rule)
    missing = rule.pop("missing", "")
    options |= {"weights": rule.pop("weights", {}), "best": rule.pop("best", None), "late": found.late}
    options["exclude_missing"] = missing == "exclude" and not options["missing_as_zero"]
    options["missing_as_zero"] |= missing == "zero"
    given = {name for name in options if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if given & {"canvas", "moodle"}:
        given |= {"canvas", "moodle"}
    options |= {name: value for name, value in {**rule, **found.export}.items() if name not in given}
    return found.out


def _source(canvas: Path | None, moodle: Path | None) -> tuple[str, Path]:
    if canvas is not None and moodle is None:
        return "canvas", canvas
    if moodle is not None and canvas is None:
        return "moodle", moodle
    raise UsageError("name one gradebook file to fill in", next_step="--canvas FILE or --moodle FILE")


def _check_out(out: Path, source: Path, force: bool) -> None:
    """Refuse a bad --out before the work. The exported file is never overwritten, so that one can go back to it."""
    if resolved(out) == resolved(source):
        what = "--out is the file that was exported, which is kept as it is"
        raise UsageError(what, where=str(out), next_step="name another file with --out")
    refuse_existing(out, force)


def _fill(
    platform: str,
    source: Path,
    results: Path,
    lesson: str | None,
    scale: str,
    missing_as_zero: bool,
    exclude_missing: bool = False,
    weights: Mapping[str, float] | None = None,
    best: int | None = None,
    **more: Any,
) -> tuple[Filled, int | None]:
    """Fill the marks in; also return how many submissions are not graded yet, None if that is not known."""
    from grader.batch.assignment.assignment_file import require_fitting
    from grader.batch.results import count_unfinished, read_results
    from grader.reports.gradebook.canvas import fill_canvas
    from grader.reports.gradebook.csv_sheet import read_sheet
    from grader.reports.gradebook.marks import Rule, make_marks
    from grader.reports.gradebook.moodle import fill_moodle

    sheet = read_sheet(source, "name the file that your platform exported")
    if sheet.note:
        warn(sheet.note)
    head, records = read_results(results)
    unfinished = count_unfinished(head)
    if unfinished != 0 and missing_as_zero:
        what = f"{unfinished_text(unfinished)}, and --missing-as-zero would make a zero of what is only not graded yet"
        raise UsageError(what, where=str(results), next_step=f"grader run ... --out {results} --resume")
    name = graded_lesson(lesson, head["lessons"])
    graded = f"here were graded {', '.join(head['lessons'])}"
    require_fitting(
        {"weights": weights, "best": best},
        head["lessons"],
        lambda what, key: UsageError(what, where=str(results), next_step=f'mend "{key}" in the assignment: {graded}'),
    )
    # the column may be called like the lesson or like the course
    titles = head.get("titles") or {}
    guesses = [name, titles.get(name, "")] if name else [head["course"].get("title") or ""]
    rule = Rule(name, scale, missing_as_zero, exclude_missing, weights or {}, best)
    marks = make_marks(records, rule, head["missing"], finished=unfinished == 0)
    fill = fill_canvas if platform == "canvas" else fill_moodle
    return fill(sheet, marks, guesses=[guess for guess in guesses if guess], **more), unfinished


def unfinished_text(unfinished: int | None) -> str:
    """Say of a run that it goes on, or was broken off; None: nobody knows how many submissions it lacks."""
    how_many = plural(unfinished, "submission") if unfinished else "some submissions"
    return f"this run is not finished: {how_many} {'is' if unfinished == 1 else 'are'} not graded yet"


def _print_report(filled: Filled, out: Path, platform: str) -> None:
    from grader.reports.gradebook.late import TIME_UNKNOWN

    worth = " or ".join(f"{points:g}" for points in filled.out_of) or "no"
    changed = f", {len(filled.replaced)} changed" if filled.replaced else ""
    grades = f"{plural(filled.filled, 'grade')} filled in{changed}"
    put(paint(f"{grades} under {clean(filled.column)}, a 10.0 being worth {worth} points.", "strong"))
    if filled.unchanged:
        put(wrap(f"{plural(filled.unchanged, 'grade')} stood there already as they are.", 2))
    if filled.comments:
        put(wrap(f"{plural(filled.comments, 'feedback comment')} written.", 2))
    put_list("Feedback comments that are somebody's own, left as they were", filled.own_comments)
    put_list("Counted as 0, as nothing was handed in", [f"{who}: {lessons}" for who, lessons in filled.zeros])
    put_list("By a human's score", [f"{who}: {says}" for who, says in filled.by_hand])
    late = [f"{one.who}: {one.raw:.2f} less {one.deduction:.2f}, {one.why}" for one in filled.late]
    put_list("Late", late)
    put_list(capitalize(TIME_UNKNOWN), filled.time_unknown)
    lost = [f"{who or 'nobody'} ({at}): {why}" for who, at, why in filled.extends_nobody]
    put_list("Extensions that are nobody's, and changed nothing", lost)
    put_list("Another grade was there before", [f"{who}: {before}, now {now}" for who, before, now in filled.replaced])
    put_list("Left as they were", [f"{who}: {why}" for who, why in filled.left])
    put_list("Not certain who it is, so left out", [f"{who}: {why}" for who, why in filled.ambiguous])
    put_list("In the results, and nobody in the file", filled.not_in_file)
    put_list("In the file, and not in the results", filled.not_in_results)
    put_list("Earlier attempts, not exported", filled.older)
    put(f"Written to {short_path(out.absolute())}.")
    put()
    put(wrap(f"Next  {IMPORT[platform]}"))


def put_list(title: str, lines: Sequence[str]) -> None:
    """Print some lines under a title, if there are any."""
    if not lines:
        return
    put(f"{title} ({len(lines)}):")
    for line in lines[:MAX_LINES]:
        put(wrap(clean(line).replace("\n", " "), 2))
    if len(lines) > MAX_LINES:
        put(wrap(f"... and {len(lines) - MAX_LINES} more; --json lists all", 2))
