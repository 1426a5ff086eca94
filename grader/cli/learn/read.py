"""`learn read`: show a lesson's text."""

from __future__ import annotations

import click

from grader.cli.context import CourseContext, find_context, short_path
from grader.cli.lesson_parameters import lesson_argument
from grader.cli.options import course_option, pager_option
from grader.model import Lesson
from grader.terminal.console import show_paged


@click.command("read")
@lesson_argument(required=False)
@pager_option
@course_option
@click.pass_context
def command(ctx: click.Context, lesson: str | None, pager: bool) -> None:
    """Read LESSON; without it, your current lesson.

    \b
    Example:
      learn read softmax
      learn read softmax --no-pager
    """
    from grader.course import read_text
    from grader.terminal.markdown import markdown

    context = find_context(ctx)
    chosen = context.lesson(lesson)
    show_paged(f"{markdown(read_text(chosen))}\n{_footer(context, chosen)}", pager)


def _footer(context: CourseContext, lesson: Lesson) -> str:
    """Say where to write, and how to check it."""
    if context.workspace is None:
        return f"Your own copy of the exercise:  learn start\nYour work, assessed:  learn check {lesson.name}\n"
    return f"Your file:  {short_path(context.workspace.exercise_path(lesson))}\nCheck it:   learn check {lesson.name}\n"
