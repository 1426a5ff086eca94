"""`grader show`: the files of a lesson."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.context import load_course, short_path
from grader.cli.lesson_parameters import lesson_argument
from grader.cli.options import course_option
from grader.course import find_lesson
from grader.files import is_file
from grader.model import Lesson
from grader.terminal.console import paint, put, signs
from grader.terminal.text import plural


@click.command("show")
@lesson_argument()
@course_option
@click.pass_context
def command(ctx: click.Context, lesson: str) -> None:
    """List the files of LESSON.

    \b
    Example:
      grader show softmax
    """
    found = find_lesson(load_course(ctx), lesson)
    for what, path in files_of(found).items():
        there = is_file(path)
        sign = paint(signs().passed, "good") if there else paint(signs().skipped, "dim")
        length = plural(len(path.read_text("utf-8", "replace").splitlines()), "line") if there else "none"
        put(f"{sign} {what:12} {short_path(path)}  {paint(length, 'dim')}")


def files_of(lesson: Lesson) -> dict[str, Path]:
    """Return where the files of a lesson are, or would be, by what they are."""
    text = lesson.text_path
    return {
        "text": text,
        "stub": lesson.exercise_path,
        "reference": lesson.solution_path,
        "checks": lesson.checks_path,
        "mistakes": lesson.mistakes_path,
        "pictures": lesson.pictures_path,
        "demo": text.with_name(f"{lesson.name}_demo.py"),
        "questions": text.with_name(f"{lesson.name}.quiz.toml"),
        "generators": text.with_name(f"{lesson.name}_quiz.py"),
    }
