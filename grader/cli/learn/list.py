"""`learn list`: list the lessons of the course."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import click

from grader.cli.context import CourseContext, find_context
from grader.cli.learn.next_step import next_step, progress_sign, show_next, show_worth, way_length
from grader.cli.options import course_option, json_option, pager_option
from grader.cli.output import put_json
from grader.course.learner_copy import passed_words, release_of
from grader.model import FULL_WAY, SCHEMA, Lesson, LessonProgress
from grader.terminal.console import beside, column_beside, paint, show_paged, wrap
from grader.terminal.text import capitalize, score_text

MARK = "*"  # beside the lessons of the way that the learner follows
_AFTER = re.compile(r"(?<=min\))\s+after .*", re.DOTALL)


@click.command("list")
@pager_option
@json_option
@course_option
@click.pass_context
def command(ctx: click.Context, pager: bool, as_json: bool) -> None:
    """List the lessons in their order, and how far you are with each.

    Behind "after" stands what to solve before; nothing is locked.

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
        ways = {way.name: list(way.lessons) for way in context.course.ways.values()}
        head = {"schema": SCHEMA, "course": context.course.id, "public": public, "way": context.way.name, "ways": ways}
        put_json({**head, "lessons": lessons})
        return
    tracks = _way_lines(context)
    for track in context.course.tracks:
        lines = [_line(context, context.course.lessons[name], progress) for name in track.lessons]
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


def _line(context: CourseContext, lesson: Lesson, progress: Mapping[str, LessonProgress]) -> str:
    course, known = context.course, progress[lesson.name]
    names, passed = list(course.lessons), passed_words(course, lesson.name)
    solved = passed if passed == passed_words(course) else ""  # what is said of public checks stands below the title
    longest, number, digits = max(map(len, names)), names.index(lesson.name) + 1, len(str(len(names)))
    states = [_describe_state(progress[name], solved) for name in names]
    column = max(map(len, states))  # 0 where none is begun: titles need the width
    sign, style = progress_sign(known)
    mark = MARK if context.way.name != FULL_WAY and lesson.name in context.way.lessons else " "
    state = f"{states[number - 1]:<{column}}  " if column else ""
    head = f"{mark} {paint(sign, style)} {number:>{digits}}  {lesson.name:<{longest}}  {state}"
    needs = ", ".join(need for need in course.last_needed(lesson) if not progress[need].solved)
    after = f"  after\0{needs}" if needs and not known.solved else ""
    start = len(f"{mark} {sign} ") + digits + 2
    says = beside(head, f"{lesson.title} ({lesson.minutes}\0min){after}", start)
    if after:
        says = _AFTER.sub(lambda found: re.sub(r"\S.*", lambda words: paint(words[0], "quiet"), found[0]), says)
    indent = column_beside(len(click.unstyle(head)), start)
    below = f"\n{' ' * indent}{paint(passed, 'quiet')}" if known.solved and not solved else ""
    return says + below


def _way_lines(context: CourseContext) -> list[str]:
    """Say which lessons the marks are on, and how to follow another way."""
    ways = [way for way in context.course.ways.values() if way != context.way]
    if not ways:
        return []
    mark = f"{MARK} is on" if context.way.name != FULL_WAY else "You follow"
    other = f"{capitalize(ways[0].title)}: `learn start --way {ways[0].name}`"
    return [wrap(f"{mark} {context.way.title}: {way_length(context.course, context.way)}. {other}."), ""]


def _describe_state(known: LessonProgress, solved: str) -> str:
    if known.solved:
        return solved
    return f"best {score_text(known.best_score)}" if known.attempts else ""
