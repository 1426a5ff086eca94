"""The option --lessons, which chooses lessons of a course."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from grader.course import find_lesson
from grader.errors import UsageError
from grader.model import Course, Lesson

F = TypeVar("F", bound=Callable[..., Any])


def lessons_option(function: F) -> F:
    """Add `--lessons a,b`."""
    return click.option("--lessons", metavar="A,B", help="Only these lessons, separated by commas.")(function)


def choose_lessons(course: Course, names: str | None) -> list[Lesson]:
    """Return the lessons named, in the course's order; all of them for None. Raises UsageError."""
    if names is None:
        return list(course.lessons.values())
    wanted = {find_lesson(course, name).name for name in names.split(",") if name.strip()}
    if not wanted:
        raise UsageError("--lessons names no lesson", next_step="leave it out to have all lessons, or see: learn list")
    return [lesson for lesson in course.lessons.values() if lesson.name in wanted]
