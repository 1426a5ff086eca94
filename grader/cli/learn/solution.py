"""`learn solution`: show the reference to a learner who has solved the lesson or given up."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from grader.cli.context import CourseContext, find_context
from grader.cli.lesson_parameters import lesson_argument
from grader.cli.options import course_option, pager_option
from grader.course.learner_copy import release_of
from grader.course.step_marks import strip_marks
from grader.errors import UsageError
from grader.files import is_file, read_file
from grader.model import Lesson
from grader.terminal.console import show_paged, warn


@click.command("solution")
@lesson_argument()
@click.option("--give-up", is_flag=True, help="Show it before you have solved the lesson. This is kept.")
@pager_option
@course_option
@click.pass_context
def command(ctx: click.Context, lesson: str, give_up: bool, pager: bool) -> None:
    """Show the reference, after you have solved LESSON or given up.

    \b
    Example:
      learn solution softmax
      learn solution softmax --give-up
    """
    context = find_context(ctx)
    chosen = context.lesson(lesson)
    if not is_file(chosen.solution_path):
        who = "; your instructor has them" if release_of(context.course) else ""
        raise UsageError(f"this copy of the course has no solutions in it{who}", next_step=f"learn hint {chosen.name}")
    solved = _require_permission(context, chosen, give_up)
    now = datetime.now(UTC)
    trouble = context.try_store(lambda store: store.record_solution_shown(chosen.name, not solved, now))
    from grader.terminal.markdown import source  # only now: it imports rich

    show_paged(source(strip_marks(read_file(chosen.solution_path))), pager)
    if trouble:
        warn(trouble)


def _require_permission(context: CourseContext, lesson: Lesson, give_up: bool) -> bool:
    """Return True if the lesson is solved. Raises UsageError if it is not, and the learner has not given up."""
    known = context.progress()[lesson.name]
    if not known.solved and not known.gave_up and not give_up:
        raise UsageError(
            f'you have not solved "{lesson.name}" yet; the reference would spoil it',
            next_step=f"learn hint {lesson.name}, or learn solution {lesson.name} --give-up",
        )
    return known.solved
