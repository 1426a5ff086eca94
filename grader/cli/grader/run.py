"""`grader run`: grade a folder of submissions."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from grader.cli.context import current_folder, load_course, short_path
from grader.cli.grader.options import GroupedCommand, options
from grader.cli.grader.progress import make_progress
from grader.cli.grader.run_result import MAX_NAMES, print_result, some_names
from grader.cli.lesson_parameters import choose_lessons
from grader.cli.run_command import STOPPED
from grader.cli.version import version
from grader.course import WantedCourse, trust
from grader.errors import UsageError
from grader.model import Course
from grader.record import Record
from grader.reports.formats.run_summary import RunSummary
from grader.terminal.spinner import Spinner
from grader.terminal.text import command_line, plural

if TYPE_CHECKING:
    from grader.batch.assignment.assignment_file import Assignment
    from grader.batch.run import Run

NOT_AGAIN = ("--resume", "--regrade")


@click.command("run", cls=GroupedCommand)
@click.argument("paths", metavar="[ASSIGNMENT.toml] SUBMISSIONS", nargs=-1, type=click.Path(path_type=Path))
@options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    paths: tuple[Path, ...],
    as_json: bool,
    shard: str | None,
    **more: Any,
) -> None:
    """Grade everybody in SUBMISSIONS.

    Each of its direct children is one learner: a folder, an archive, a notebook (.ipynb) or a .py file. It may also be
    the .zip of a whole class, as a platform gives it, or a list of git clones. What is known is written at once: stop
    the run when you like, or let the machine fail, and go on with --resume.

    With a file ASSIGNMENT.toml, options that are not given are as it says.

    A submission's score is the mean over its lessons that have a score. A lesson that was not handed in has none, and
    neither has one that the grader itself could not check: an empty cell is no zero, and "complete" says no. Exit
    status 0 done, 2 wrong usage, 3 the grader itself failed on something.

    \b
    Example:
      grader run submissions --out results
      grader run submissions.zip --names canvas --roster roster.csv --out results
      grader run homework1.toml submissions.zip
      grader run submissions --out results --lessons softmax,attention --jobs 8
      grader run submissions --out results --resume
      grader run submissions --out results --regrade --only alice
      grader run submissions --out results --seed 7 --shard 2/8 --resume
    """
    submissions, assignment = _read_paths(ctx, paths, more)
    out, lessons = more.pop("out"), more.pop("lessons")
    if out is None:
        raise click.UsageError("Missing option '--out'.", ctx=ctx)
    course = _load_course(ctx, paths[0], assignment)
    chosen = choose_lessons(course, lessons, required=True)
    from grader.batch.assignment.assignment_file import require_fitting
    from grader.batch.run import Plan, Run
    from grader.batch.shards import Shard

    require_fitting(
        assignment.rule if assignment else {},
        [lesson.name for lesson in chosen],
        lambda what, key: UsageError(what, where=str(paths[0]), next_step=f'mend "{key}" there, or add "lessons"'),
    )
    if more["resume"] and more["regrade"]:
        what = "--resume grades what is not done, and --regrade what is"
        raise UsageError(what, next_step="leave out one of them; --resume also goes on with a regrade that was stopped")
    if more.pop("as_root"):
        if more["isolation"] != "process":
            raise UsageError("--as-root is for --isolation process", next_step="leave it out")
        more["isolation"] = "process-as-root"
    part = Shard.parse(shard) if shard else None
    with Spinner("Starting to grade"):
        run = Run(course, Plan(submissions, out, chosen, version(), shard=part, **more))
    summary = RunSummary(run.settings.seed)
    with closing(run):
        _announce(run)
        code = _grade(run, summary)
        ctx.exit(code or print_result(run.results, out, as_json, summary))


def _read_paths(ctx: click.Context, paths: tuple[Path, ...], options: dict[str, Any]) -> tuple[Path, Assignment | None]:
    """Return the submissions, and the assignment's file before them; set the options that only that one gives."""
    current_folder()  # grading processes begin in it
    *assignment, submissions = paths or (None,)
    if submissions is None or len(assignment) > 1:
        raise click.UsageError("Name the submissions: a folder, a .zip or a list of clones.", ctx=ctx)
    if not assignment:
        return submissions, None
    from grader.batch.assignment.assignment_file import read_assignment

    found = read_assignment(assignment[0])
    options["late"] = found.late is not None
    for name, value in found.run.items():
        if ctx.get_parameter_source(name) is ParameterSource.DEFAULT:
            options[name] = value
    return submissions, found


def _load_course(ctx: click.Context, path: Path, assignment: Assignment | None) -> Course:
    """Return the course that is graded with, of the assignment's file *path* where that one names it."""
    if assignment is None or assignment.course is None:
        return load_course(ctx)
    course = load_course(ctx, WantedCourse(assignment.course, by=short_path(path.absolute()), command="grader run"))
    trust(course.root)  # the user has named it, or has been asked
    return course


def _announce(run: Run) -> None:
    """Say on standard error what is going to be done."""
    settings, plan, found = run.settings, run.plan, run.found
    part = f", part {plan.shard} of the class" if plan.shard else ""
    what = f"{plural(len(run.todo), 'submission')} on {plural(len(settings.lessons), 'lesson')}"
    lines = [f"Grading {what}, seed {settings.seed}{part}."]
    if run.before:
        lines.append(f"{plural(run.before, 'submission')} graded before, on the same hand-in and settings: kept.")
    if run.kept:
        are, results = ("are", "their results are") if len(run.kept) > 1 else ("is", "the result is")
        who = plural(len(run.kept), "learner")
        lines.append(f"{who} graded before {are} not among these hand-ins: {results} kept.")
    if run.otherwise:
        before = plural(run.otherwise, "submission")
        lines.append(f"{before} graded before, with another course or other settings: again now, old scores are kept.")
    if run.results.put_aside:
        lines.append(f"Earlier results were put aside: {short_path(run.results.put_aside.absolute())}.")
    counting, waiting = _carried_scores(run)
    doubtful = [
        f"{name} {lesson} was for {file}, which is {whose}'s now"
        for name, (file, whose) in run.exchanged.items()
        for lesson in run.results.overrides.get(name, ())
    ]
    show = command_line("grader", "override", str(plan.out), "--list")
    outdated = "--only leaves them out" if plan.only else "add their hand-ins"

    def some(ids: list[str]) -> list[str]:
        return [*map(run.label, ids[:MAX_NAMES]), *ids[MAX_NAMES:]]

    for what, names in (
        ("Scores given by a human before, which go on counting", counting),
        ("Scores given by a human before, kept for hand-ins and lessons that are not graded here", waiting),
        (f"Scores given by a human to what may be another person's work; look at each ({show})", doubtful),
        ("Changed since they were graded; their results are of the earlier hand-in until --resume", some(run.changed)),
        ("Older than what was graded, whose result stays; --older takes them all the same", some(run.older)),
        (f"Graded with another course or other settings, and not again: {outdated}", some(run.outdated)),
        ("Graded before under another of the person's ids, and now under theirs", _arrows(run.renamed)),
        ("Graded before under another of a person's ids, and left out of the results", run.doubled),
        ("Left out, being nothing that is handed in", found.ignored),
        ("Without a hand-in", [one["name"] or one["id"] for one in run.missing]),
        ("Not on the roster", found.unlisted),
    ):
        lines += [f"{what}: {some_names(names)}."] if names else []
    for line in [*lines, *found.notes]:
        click.echo(line, err=True)


def _arrows(renamed: Mapping[str, str]) -> list[str]:
    return [f"{old} is {new}" for old, new in renamed.items()]


def _carried_scores(run: Run) -> tuple[list[str], list[str]]:
    """Return the scores by a human that a run that begins anew has taken over, and those that count in no run."""
    here = {learner.id for learner in run.found.learners} | {result.id for result in run.results.store.results()}
    split: tuple[list[str], list[str]] = ([], [])
    for name, said in run.results.overrides.items():
        for lesson in said:
            counts = name in here and lesson in run.settings.lessons
            split[not counts].append(f"{name} {lesson}")
    counting, waiting = split
    return ([] if run.plan.resume or run.plan.regrade else counting), waiting


def _grade(run: Run, summary: RunSummary) -> int:
    progress = make_progress(len(run.todo))

    def add(record: Record) -> None:
        summary.compare(record)
        progress.add(record)

    before = signal.signal(signal.SIGTERM, _stop)
    try:
        with progress:
            run.grade(add)
    except KeyboardInterrupt:
        again = command_line("grader", *(word for word in sys.argv[1:] if word not in NOT_AGAIN), "--resume")
        done = f"{progress.done} of {plural(len(run.todo), 'submission')}"
        click.echo(f"Stopped. {done} graded, and kept in {short_path(run.plan.out.absolute())}.", err=True)
        click.echo(f"Next:  {again}", err=True)
        return STOPPED
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Stop in order on SIGTERM, with which a cluster takes a machine back, as on Ctrl-C."""
    raise KeyboardInterrupt
