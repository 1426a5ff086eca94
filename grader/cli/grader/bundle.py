"""`grader bundle`: pack the grader for another place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from grader.cli.context import load_course, short_path
from grader.cli.grader.bundle_github import github
from grader.cli.lesson_parameters import choose_lessons, lessons_option
from grader.cli.options import Number, WholeNumber, course_option
from grader.cli.output import refuse_existing
from grader.cli.version import version
from grader.reports.record_view import MAX_POINTS
from grader.terminal.console import paint, put, wrap
from grader.terminal.text import plural

MAX_MINUTES = 40  # that Gradescope allows


@click.group("bundle")
def command() -> None:
    """Pack the grader for another place.

    \b
    Example:
      grader bundle gradescope --lessons attention --out autograder.zip
      grader bundle github --class class.csv --due 2026-12-11T23:59 --out homework
    """


@command.command("gradescope")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The zip to make.")
@lessons_option
@click.option(
    "--out-of",
    type=Number(0, MAX_POINTS, min_open=True),
    default=100.0,
    show_default=True,
    metavar="N",
    help="The assignment's autograder points: what a 10.0 is worth.",
)
@click.option(
    "--missing",
    type=click.Choice(["zero", "skip"]),
    default="zero",
    show_default=True,
    help="What a lesson counts that was not handed in: 0, or nothing either way.",
)
@click.option(
    "--visibility",
    type=click.Choice(["visible", "after_due_date", "after_published"]),
    default="visible",
    show_default=True,
    help="When learners see how their checks ended.",
)
@click.option("--reveal", is_flag=True, help="Let learners see the inputs of hidden checks, and what was expected.")
@click.option("--seed", type=WholeNumber(0), metavar="N", help="Seed of the random inputs, the same for everybody.")
@click.option(
    "--minutes",
    type=WholeNumber(2, MAX_MINUTES),
    default=10,
    show_default=True,
    metavar="N",
    help="The timeout that the assignment has in Gradescope.",
)
@click.option("--force", is_flag=True, help="Replace the file at --out.")
@course_option
@click.pass_context
def gradescope(
    ctx: click.Context,
    /,
    out: Path,
    lessons: str | None,
    seed: int | None,
    minutes: int,
    force: bool,
    **points: Any,
) -> None:
    """Make the zip of a Gradescope autograder.

    It holds the program, the course with its hidden checks, and the scripts setup.sh and run_autograder. It works in
    any container with Debian or Ubuntu whose files lie in /autograder: what Gradescope does there can be tried with
    Docker first. Keep it to yourself.

    \b
    Example:
      grader bundle gradescope --out autograder.zip
      grader bundle gradescope --lessons softmax,attention --out-of 20 --out week-1.zip
    """
    from grader.gradescope.build_zip import write_bundle
    from grader.gradescope.settings import BundleSettings
    from grader.judge.session import random_seed

    course = load_course(ctx)
    chosen = choose_lessons(course, lessons, required=True)
    refuse_existing(out, force)
    seed = random_seed() if seed is None else seed
    names = tuple(lesson.name for lesson in chosen)
    settings = BundleSettings(names, seed, version(), missing_as_zero=points.pop("missing") == "zero", **points)
    write_bundle(course, chosen, out, settings, minutes)
    size = f"{(out.stat().st_size + 1023) // 1024} kB"
    what = f"an autograder for {plural(len(chosen), 'lesson')}, {size}, seed {seed}."
    put(paint(f"{short_path(out.absolute())}: {what}", "strong"))
    secret = "Keep it to yourself: the hidden checks and the solutions are in it."
    put(wrap(f"{secret} README.md in it says how to set up the assignment."))
    put()
    put(wrap("Next  in Gradescope: Configure Autograder, upload the zip, then Test Autograder"))


command.add_command(github)
