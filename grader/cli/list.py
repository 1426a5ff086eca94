"""`learn list`: the lessons of the course."""

from __future__ import annotations

from typing import Any

import click

from grader.cli.here import Here, here
from grader.cli.options import course_option, json_option
from grader.cli.screen import paint, put, signs, width
from grader.model import SCHEMA, Lesson, LessonProgress
from grader.reports.plain import score_text


@click.command("list")
@json_option
@course_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """List the lessons in their order, and how far you are with each.

    \b
    Example:
      learn list
      learn list --json
    """
    place = here(ctx)
    progress = place.progress()
    if as_json:
        from grader.reports.to_json import dump

        lessons = [_object(place, lesson, progress[name]) for name, lesson in place.course.lessons.items()]
        click.echo(dump({"schema": SCHEMA, "course": place.course.id, "lessons": lessons}))
        return
    for number, track in enumerate(place.course.tracks):
        if number:
            put()
        put(paint(track.title, "strong"))
        for name in track.lessons:
            put(_line(place.course.lessons[name], progress[name], max(map(len, place.course.lessons))))


def _object(place: Here, lesson: Lesson, known: LessonProgress) -> dict[str, Any]:
    return {
        "lesson": lesson.name,
        "track": lesson.track,
        "title": lesson.title,
        "minutes": lesson.minutes,
        "needs": list(lesson.needs),
        "concepts": list(lesson.concepts),
        "functions": [function.name for function in lesson.functions],
        "file": str(place.workspace.exercise_path(lesson)) if place.workspace else None,
        "solved": known.solved,
        "attempts": known.attempts,
        "best_score": known.best_score,
    }


def _line(lesson: Lesson, known: LessonProgress, longest: int) -> str:
    if known.solved:
        sign, style, state = signs().passed, "good", "solved"
    elif known.attempts:
        sign, style, state = signs().trouble, "strong", f"best {score_text(known.best_score)}"
    else:
        sign, style, state = signs().skipped, "quiet", ""
    title = f"{lesson.title} ({lesson.minutes} min)"
    needs = f"after {', '.join(lesson.needs)}" if lesson.needs and not known.solved else ""
    line = f"  {paint(sign, style)} {lesson.name:<{longest}}  {state:<8}  {title}"
    room = width() - (longest + 16 + len(title))
    return line + (paint(f"  {needs}", "quiet") if needs and len(needs) <= room else "")
