"""The argument LESSON, which the shell can complete."""

from __future__ import annotations

from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

from grader.cli.context import find_context
from grader.cli.options import F
from grader.errors import SelfattendError


def _lessons(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
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
        return click.argument("lessons", metavar="[LESSON]...", nargs=-1, shell_complete=_lessons)
    metavar = "LESSON" if required else "[LESSON]"
    return click.argument("lesson", metavar=metavar, required=required, shell_complete=_lessons)
