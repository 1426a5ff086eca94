"""`learn list`: list the lessons of the course."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from grader.cli.context import CourseContext, find_context
from grader.cli.learn.next_step import next_step, progress_sign, show_next, show_worth
from grader.cli.options import course_option, json_option, pager_option
from grader.cli.output import put_json
from grader.course.learner_copy import passed_words, release_of
from grader.model import SCHEMA, Course, Lesson, LessonProgress
from grader.terminal.console import paint, show_paged, width, wrap
from grader.terminal.text import score_text


@click.command("list")
@pager_option
@json_option
@course_option
@click.pass_context
def command(ctx: click.Context, pager: bool, as_json: bool) -> None:
    """List the lessons in their order, and how far you are with each.

    \b
    Example:
      learn list
      learn list --json
    """
    context = find_context(ctx)
    progress = context.progress()
    if as_json:
        lessons = [_object(context, lesson, progress[name]) for name, lesson in context.course.lessons.items()]
        public = release_of(context.course) is not None
        put_json({"schema": SCHEMA, "course": context.course.id, "public": public, "lessons": lessons})
        return
    tracks = []
    for track in context.course.tracks:
        lines = [_line(context.course, context.course.lessons[name], progress) for name in track.lessons]
        tracks.append("\n".join([paint(track.title, "strong"), *lines, ""]))
    show_paged("\n".join(tracks), pager)
    show_worth(context.course)
    show_next(*next_step(context, progress))


def _object(context: CourseContext, lesson: Lesson, known: LessonProgress) -> dict[str, Any]:
    return {
        "lesson": lesson.name,
        "track": lesson.track,
        "title": lesson.title,
        "minutes": lesson.minutes,
        "needs": list(lesson.needs),
        "concepts": list(lesson.concepts),
        "functions": [function.name for function in lesson.functions],
        "file": str(context.workspace.exercise_path(lesson)) if context.workspace else None,
        "solved": known.solved,
        "attempts": known.attempts,
        "best_score": known.best_score,
    }


def _line(course: Course, lesson: Lesson, progress: Mapping[str, LessonProgress]) -> str:
    names, known, passed = list(course.lessons), progress[lesson.name], passed_words(course, lesson.name)
    solved = passed if passed == passed_words(course) else ""  # what is said of public checks stands below the title
    longest, number, digits = max(map(len, names)), names.index(lesson.name) + 1, len(str(len(names)))
    states = [_describe_state(progress[name], solved) for name in names]
    column = max(map(len, states))  # 0 where none is begun: titles need the width
    sign, style = progress_sign(known)
    state = f"{states[number - 1]:<{column}}  " if column else ""
    head = f"{number:>{digits}}  {lesson.name:<{longest}}  {state}"
    title = f"{lesson.title} ({lesson.minutes} min)"
    needs = f"  after {', '.join(lesson.needs)}" if lesson.needs and not known.solved else ""
    indent = len("  * ") + len(head)
    says = wrap(title, indent).lstrip()
    room = width() - indent - len(title)
    below = f"\n{' ' * indent}{paint(passed, 'quiet')}" if known.solved and not solved else ""
    return f"  {paint(sign, style)} {head}{says}" + (paint(needs, "quiet") if len(needs) <= room else "") + below


def _describe_state(known: LessonProgress, solved: str) -> str:
    if known.solved:
        return solved
    return f"best {score_text(known.best_score)}" if known.attempts else ""
