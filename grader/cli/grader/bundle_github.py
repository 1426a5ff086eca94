"""`grader bundle github`: the two repositories of a class on GitHub."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.context import load_course, short_path
from grader.cli.grader.release import make_with_spinner
from grader.cli.lesson_parameters import choose_lessons, lessons_option
from grader.cli.options import course_option
from grader.errors import UsageError
from grader.files import explain_unwritable, replacing_folder
from grader.model import Course, Lesson
from grader.terminal.console import paint, put, warn, wrap
from grader.terminal.text import plural

if TYPE_CHECKING:
    from grader.github.build_folder import GitHubSettings
    from grader.github.class_list import ClassMember

PATH = click.Path(path_type=Path)


@click.command("github")
@click.option("--class", "members", required=True, type=PATH, metavar="FILE", help="A CSV: id,repository[,name].")
@click.option("--due", required=True, metavar="WHEN", help="The deadline: a day, or 2026-12-11T23:59+01:00.")
@click.option("--out", required=True, type=PATH, metavar="DIR", help="The folder to make.")
@lessons_option
@click.option(
    "--feedback",
    type=click.Choice(["issue", "file"]),
    default="issue",
    show_default=True,
    help="How learners get it: an issue, or a file in feedback/, in their repository.",
)
@click.option("--title", default="Feedback", show_default=True, metavar="TEXT", help="What it is called there.")
@click.option("--seed", type=click.IntRange(1), metavar="N", help="Seed of the random inputs, the same for everybody.")
@course_option
@click.pass_context
def github(
    ctx: click.Context,
    /,
    members: Path,
    due: str,
    out: Path,
    lessons: str | None,
    feedback: str,
    title: str,
    seed: int | None,
) -> None:
    """Make the repositories of a class on GitHub.

    DIR/private is for a private repository of yours: a workflow that clones the class at the deadline, or when you
    start it, grades it and gives the feedback back. It holds the hidden checks: keep it to yourself. DIR/template is
    for the repository that learners copy: each push of theirs is checked with the public checks of a release.

    \b
    Example:
      grader bundle github --class class.csv --due 2026-12-11T23:59 --out homework
    """
    from grader.authoring.release.pack_program import require_checks
    from grader.github.build_folder import GitHubSettings
    from grader.github.class_list import read_class
    from grader.judge.session import random_seed

    course = load_course(ctx)
    chosen = choose_lessons(course, lessons, required=True)
    require_checks(course, chosen)
    listed = read_class(members, warn)
    if not re.fullmatch(r"\w[\w ,.:()-]*", title):
        raise UsageError("--title may have letters, digits, spaces and ,.:()- only", next_step="--title 'Homework 1'")
    settings = GitHubSettings(_read_time(due), feedback, title, seed or 1 + random_seed())
    _require_new(out)
    with explain_unwritable("the folder", out, "name another place with --out DIR"), replacing_folder(out) as staged:
        _write(staged, course, chosen, listed, settings)
    _print_report(out, settings.due, len(listed), chosen)


def _read_time(text: str) -> datetime:
    from grader.intake.platform_names import parse_due

    when = parse_due(text)
    if when is None:
        raise UsageError(f"--due {text} is no time", next_step="write it so: --due 2026-12-11T23:59+01:00")
    return datetime.fromtimestamp(int(when), UTC)


def _require_new(out: Path) -> None:
    if os.path.lexists(out) and not (out.is_dir() and not out.is_symlink() and not any(out.iterdir())):
        what = "there is something here already"
        raise UsageError(what, where=str(out), next_step="name a new folder with --out DIR")


def _write(
    staged: Path, course: Course, lessons: list[Lesson], members: list[ClassMember], settings: GitHubSettings
) -> None:
    from grader.github.build_folder import write_private, write_template

    write_private(staged / "private", course, lessons, members, settings)
    make_with_spinner(course, lessons, staged / "release")
    write_template(staged / "template", staged / "release", course, lessons)


def _print_report(out: Path, due: datetime, members: int, lessons: list[Lesson]) -> None:
    where = short_path(out.absolute())
    what = f"{where}: {plural(len(lessons), 'lesson')} for {plural(members, 'learner')}, due {due:%Y-%m-%d %H:%M} UTC."
    put(paint(what, "strong"))
    secret = "the hidden checks and the solutions are in it. Keep it to yourself."
    put(wrap(f"private/ is for a private repository of yours: {secret}"))
    put(wrap("template/ is for the repository that learners copy: exercises, and a program with public checks alone."))
    if due < datetime.now(UTC):
        put(wrap("That time is past: the schedule will not start anything, but you can."))
    put()
    put(wrap(f"Next  {where}/private/README.md says what to push where, and which token the workflow needs"))
