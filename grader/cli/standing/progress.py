"""`learn progress`: show scores, latest mistakes and the next step."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from grader.cli.context import CourseContext, find_context
from grader.cli.learn.next_step import next_step, progress_sign, show_next, show_worth, solved_bar
from grader.cli.options import course_option, json_option
from grader.cli.output import put_json
from grader.cli.standing.progress_quiz import quiz_lines, quiz_state
from grader.course.learner_copy import release_of
from grader.model import SCHEMA, Lesson, LessonProgress, Track
from grader.terminal.console import paint, put, signs, width, wrap
from grader.terminal.text import ago, clean, score_bar, score_text
from grader.workspace import Workspace

SHOWN_MISTAKES = 3
SEARCHED_MISTAKES = 1000
NARROW = 70  # columns below which there are no bars and no hints

Mistake = tuple[str, str, str, datetime]  # lesson, id, what was said, when


@click.command("progress")
@json_option
@course_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show best scores, your latest mistakes and what is next.

    \b
    Example:
      learn progress
      learn progress --json
    """
    context = find_context(ctx)
    workspace = context.require_workspace()
    progress = context.progress()
    with context.store() as store:
        named = store.recent_mistakes(SEARCHED_MISTAKES)
        quiz = quiz_state(context, store, progress)
    mistakes = [mistake for mistake in named if _is_open(mistake, progress)][:SHOWN_MISTAKES]
    if as_json:
        put_json(_object(context, workspace, progress, mistakes) | {"quiz": quiz})
        return
    for number, track in enumerate(track for track in context.course.tracks if track.lessons):
        if number:
            put()
        _show_track(context, track, progress)
    show_worth(context.course)
    _show_mistakes(mistakes)
    for line in quiz_lines(quiz):
        put(line)
    show_next(*next_step(context, progress))


def _is_open(mistake: Mistake, progress: dict[str, LessonProgress]) -> bool:
    """Return True if a mistake is still worth a look: its lesson is begun and not solved."""
    lesson, name, _, _ = mistake
    return name != "stub" and lesson in progress and not progress[lesson].solved


def _show_track(context: CourseContext, track: Track, progress: dict[str, LessonProgress]) -> None:
    put(paint(track.title, "strong"))
    put(solved_bar(context.course, track, progress))
    put()
    longest = max(map(len, track.lessons))
    bars, hints = (" " * 12, "  hints") if width() >= NARROW else ("", "")
    put(paint(f"    {'lesson':<{longest}}  {'best':>4}{bars}  tries{hints}  last try", "quiet"))
    for name in track.lessons:
        put(_line(context.course.lessons[name], progress[name], longest))


def _line(lesson: Lesson, known: LessonProgress, longest: int) -> str:
    sign, style = progress_sign(known)
    filled = hints = ""
    if width() >= NARROW:
        filled = f"  {score_bar(known.best_score, 10, signs())}"
        hints = f"  {f'{known.hints_used}/{len(lesson.all_hints)}':>5}"
    when = ago(known.last_when) if known.last_when else ""
    helped = ", solution seen" if known.solution_seen and known.gave_up else ""
    line = (
        f"{lesson.name:<{longest}}  {score_text(known.best_score):>4}{filled}"
        f"  {known.attempts or '-':>5}{hints}  {when}"
    )
    # beside the rest where there is room, else below it
    below = "" if len(line) + len(helped) <= width() - 4 or not helped else f"\n    {helped.removeprefix(', ')}"
    return f"  {paint(sign, style)} {f'{line}{below or helped}'.rstrip()}"


def _show_mistakes(mistakes: list[Mistake]) -> None:
    if not mistakes:
        return
    put()
    put(paint("Latest mistakes", "strong"))
    for lesson, name, says, when in mistakes:
        first_line = clean(says).partition("\n")[0]  # an error's text is whatever the code says
        put(wrap(f"{lesson}: {first_line}", 2))
        put(paint(f"  [{clean(name)}], {ago(when)}", "quiet"))


def _object(
    context: CourseContext, workspace: Workspace, progress: dict[str, LessonProgress], mistakes: list[Mistake]
) -> dict[str, Any]:
    says, command_text = next_step(context, progress)
    current = context.current_lesson(progress)
    return {
        "schema": SCHEMA,
        "course": context.course.id,
        "public": release_of(context.course) is not None,
        "workspace": str(workspace.root),
        "solved": sum(known.solved for known in progress.values()),
        "total": len(progress),
        "tracks": [
            {
                "track": track.name,
                "title": track.title,
                "solved": sum(progress[name].solved for name in track.lessons),
                "total": len(track.lessons),
            }
            for track in context.course.tracks
        ],
        "lessons": [_lesson_object(lesson, progress[name]) for name, lesson in context.course.lessons.items()],
        "mistakes": [
            {"lesson": lesson, "id": name, "says": text, "when": when.isoformat()}
            for lesson, name, text, when in mistakes
        ],
        "next": {"lesson": current.name if current else None, "says": says, "command": command_text},
    }


def _lesson_object(lesson: Lesson, known: LessonProgress) -> dict[str, Any]:
    return {
        "lesson": lesson.name,
        "track": lesson.track,
        "solved": known.solved,
        "best_score": known.best_score,
        "last_score": known.last_score,
        "attempts": known.attempts,
        "last_when": known.last_when.isoformat() if known.last_when else None,
        "solved_when": known.solved_when.isoformat() if known.solved_when else None,
        "hints_used": known.hints_used,
        "hints": len(lesson.all_hints),
        "solution_seen": known.solution_seen,
        "gave_up": known.gave_up,
        "mistakes": [mistake.id for mistake in known.last_mistakes],
    }
