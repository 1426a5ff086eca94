"""The argument LESSON, which the shell can complete, and the option --lessons."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click
from click.shell_completion import CompletionItem

from grader.cli.context import find_context
from grader.cli.options import F
from grader.course import find_lesson
from grader.errors import SelfattendError, UsageError
from grader.model import Course, Lesson

lessons_option = click.option("--lessons", metavar="A,B", help="Only these lessons, separated by commas.")


def _complete_lesson(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    try:
        course = find_context(ctx).course
    except SelfattendError:
        return []  # the shell shows no messages while it completes
    begun = incomplete.lower().replace("-", "_")
    lessons = [lesson for name, lesson in course.lessons.items() if name.startswith(begun)]
    return [CompletionItem(lesson.name, help=lesson.title) for lesson in lessons]


def lesson_argument(required: bool = True, several: bool = False) -> Callable[[F], F]:
    """Add `LESSON`, or `[LESSON]...`, completed by the shell."""
    if several:
        return click.argument("lessons", metavar="[LESSON]...", nargs=-1, shell_complete=_complete_lesson)
    metavar = "LESSON" if required else "[LESSON]"
    return click.argument("lesson", metavar=metavar, required=required, shell_complete=_complete_lesson)


def choose_lessons(course: Course, names: str | None, required: bool = False) -> list[Lesson]:
    """Return the lessons named, in the course's order; for None all, or all that are required. Raises UsageError."""
    if names is None:
        return course.required_lessons if required else list(course.lessons.values())
    wanted = {find_lesson(course, name).name for name in names.split(",") if name.strip()}
    if not wanted:
        raise UsageError("--lessons names no lesson", next_step="leave it out to have all lessons, or see: learn list")
    return [lesson for lesson in course.lessons.values() if lesson.name in wanted]


def graded_lesson(name: str | None, lessons: Sequence[str], where: str = "") -> str:
    """Return the lesson named, of those in some results; for None the only one, or "". Raises UsageError."""
    if name is None:
        return lessons[0] if len(lessons) == 1 else ""
    if name not in lessons:
        what = f'there is no lesson "{name}" in these results'
        raise UsageError(what, where=where, next_step=f"name one of: {', '.join(lessons)}")
    return name
