"""`grader run`: grade a folder of submissions."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.grade_progress import progress_of
from grader.cli.here import course_of, shown
from grader.cli.lessons import chosen_lessons, lessons_option
from grader.cli.options import course_option, json_option
from grader.cli.run import STOPPED
from grader.cli.screen import paint, put, wrap
from grader.cli.version import version
from grader.judge.session import DEVICES
from grader.reports.plain import counted
from grader.reports.run_summary import RunSummary, looks, sentence, to_object

if TYPE_CHECKING:
    from grader.batch.run import Run

GRADER_ERROR = 3


@click.command("run")
@click.argument("submissions", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Where the results go.")
@lessons_option
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes that grade; one a core without it.")
@click.option("--resume", is_flag=True, help="Go on with the results in DIR: grade only what is new or has changed.")
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Seed of the random inputs, the same for everybody.")
@click.option("--only", multiple=True, metavar="ID", help="Only this submission; may be given several times.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Grade N submissions at most.")
@click.option("--device", type=click.Choice(DEVICES), default="cpu", show_default=True, help="Where their code runs.")
@json_option
@course_option
@click.pass_context
def command(
    ctx: click.Context, submissions: Path, out: Path, lessons: str | None, jobs: int | None, resume: bool,
    seed: int | None, only: tuple[str, ...], limit: int | None, device: str, as_json: bool,
) -> None:  # fmt: skip
    """Grade everybody in the folder SUBMISSIONS.

    Each of its direct children is one learner: a folder, a .zip, a notebook (.ipynb) or a .py file. In DIR you find
    gradebook.csv, results.json, and for each learner feedback/ID.json, each written as soon as it is known.

    A submission's score is the mean over its lessons that have a score. A lesson that was not handed in has none, and
    neither has one that the grader itself could not check: an empty cell is no zero, and "complete" says no. Exit
    status 0 done, 2 wrong usage, 3 the grader itself failed on something.

    \b
    Example:
      grader run submissions --out results
      grader run submissions --out results --lessons softmax,attention --jobs 8
      grader run submissions --out results --resume
    """
    course = course_of(ctx)
    chosen = chosen_lessons(course, lessons)
    from grader.batch.run import Plan, Run, usable_cores

    run = Run(course, Plan(submissions, out, chosen, version(), seed, device, resume, only, limit))
    try:
        _announce(run, out)
        code = _grade(run, out, min(jobs or usable_cores(), max(1, len(run.todo))))
        ctx.exit(code or _report(run, out, as_json))
    finally:
        run.close()


def _announce(run: Run, out: Path) -> None:
    """What is going to be done, on standard error: the results are not yet there."""
    settings = run.settings
    lines = [f"Grading {counted(len(run.todo), 'submission')} on {counted(len(settings.lessons), 'lesson')}, "
             f"seed {settings.seed}."]  # fmt: skip
    if run.before:
        lines.append(f"{counted(run.before, 'submission')} graded before, on the same hand-in and settings: kept.")
    if run.results.put_aside:
        lines.append(f"Earlier results were put aside: {shown_in(out, 'results.previous.jsonl')}.")
    if run.found.ignored:
        names = ", ".join(run.found.ignored[:8]) + (", ..." if len(run.found.ignored) > 8 else "")
        lines.append(f"Left out (not a folder, .py, .zip or .ipynb): {names}.")
    for line in lines:
        click.echo(line, err=True)


def _grade(run: Run, out: Path, jobs: int) -> int:
    progress = progress_of(len(run.todo))
    try:
        with progress:
            run.grade(progress.add, jobs)
    except KeyboardInterrupt:
        command_line = shlex.join(["grader", *(argument for argument in sys.argv[1:] if argument != "--resume")])
        click.echo(
            f"Stopped. {progress.done} of {counted(len(run.todo), 'submission')} graded, and kept in {shown(out)}.",
            err=True,
        )
        click.echo(f"Next:  {command_line} --resume", err=True)
        return STOPPED
    return 0


def _report(run: Run, out: Path, as_json: bool) -> int:
    """The end of a run, on standard output; the exit status."""
    summary = RunSummary(run.settings.seed)
    for record in run.results.records():
        summary.add(record)
    if as_json:
        from grader.reports.to_json import dump

        click.echo(dump(to_object(summary) | {"out": str(out)}))
    else:
        put(paint(sentence(summary), "strong"))
        for text in looks(summary):
            put(wrap(text, 2))
        put(f"Results in {shown_in(out, 'gradebook.csv')}, results.json and feedback/.")
    return GRADER_ERROR if summary.states.get("grader-error") else 0


def shown_in(out: Path, name: str) -> str:
    """A file of the results folder, as short as a terminal can still open it."""
    return shown(out.absolute() / name)
