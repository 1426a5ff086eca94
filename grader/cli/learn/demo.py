"""`learn demo`: assess a bundled attempt with mistakes, to show what an assessment looks like."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from grader.cli.context import load_course, short_path
from grader.cli.options import course_option
from grader.course.learner_copy import release_of
from grader.errors import UsageError
from grader.files import is_file
from grader.model import Course, Lesson, LessonResult
from grader.submission import read_submission
from grader.terminal.console import make_layout, paint, put, signs, wrap
from grader.terminal.text import command_line

SEED = 1  # always the same numbers, so that documents can show the demo; a release has its own seeds


@click.command("demo")
@course_option
@click.pass_context
def command(ctx: click.Context) -> None:
    """Assess the bundled flawed attempt, to show what it looks like.

    Nothing is written or kept.

    \b
    Example:
      learn demo
    """
    course = load_course(ctx)
    lesson, file = _find_demo(course)
    release = release_of(course)
    seed = release.seeds[0] if release else SEED
    _introduce(lesson, file, seed)
    result = _check(course, lesson, file, seed)

    from grader.reports.formats.to_terminal import assessment

    result = replace(result, suggestions=())  # what is next is said below
    look = make_layout(more="that command with -v")
    click.echo(assessment(result, look, title=lesson.title), nl=False, color=True)
    put()
    put(wrap("That was somebody else's attempt. Begin your own with `learn start`."))


def _find_demo(course: Course) -> tuple[Lesson, Path]:
    """Find the first lesson with `<lesson>_demo.py` beside its text. Raises UsageError."""
    for lesson in course.lessons.values():
        file = lesson.text_path.with_name(f"{lesson.name}_demo.py")
        if is_file(file):
            return lesson, file
    raise UsageError("this course has no demo", where=str(course.root), next_step="learn list")


def _introduce(lesson: Lesson, file: Path, seed: int) -> None:
    from grader.terminal.markdown import numbered_source

    put(wrap(f"Somebody tried the lesson “{lesson.title}”. The code runs and looks right; `learn check` disagrees."))
    put()
    click.echo(numbered_source(file.read_text(encoding="utf-8")), nl=False, color=True)
    put()
    again = command_line("learn", "check", lesson.name, "--file", short_path(file), "--seed", str(seed))
    put(paint(f"{signs().arrow} {again}", "command"))
    put()
    sys.stdout.flush()


def _check(course: Course, lesson: Lesson, file: Path, seed: int) -> LessonResult:
    from grader.judge.session import check_lessons
    from grader.terminal.spinner import Spinner

    submission = read_submission(Path(short_path(file)), lesson, course)
    results: list[LessonResult] = []
    with Spinner("Starting"):
        check_lessons(course, [(lesson, submission, 0)], seed=seed, device="cpu", on_result=results.append)
    return replace(results[0], file=file.name)  # where the course is installed is of no interest
