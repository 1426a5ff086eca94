"""`learn hand-in`: one zip with the right names, of what is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import click

from grader.cli.context import CourseContext, find_context, short_path
from grader.cli.lesson_parameters import choose_lessons, lessons_option
from grader.cli.options import course_option
from grader.cli.output import refuse_existing
from grader.course.learner_copy import passed_words
from grader.errors import UsageError
from grader.files import explain_unwritable, replacing
from grader.terminal.console import paint, put, signs, warn, wrap

if TYPE_CHECKING:
    from grader.model import Lesson

OUT = "hand-in.zip"


@click.command("hand-in")
@lessons_option
@click.option("--out", type=click.Path(path_type=Path), default=OUT, show_default=True, metavar="FILE", help="The zip.")
@click.option("--force", is_flag=True, help="Replace the file at --out.")
@course_option
@click.pass_context
def command(ctx: click.Context, lessons: str | None, out: Path, force: bool) -> None:
    """Pack what you have written into one zip to hand in.

    Files keep the names by which they are found when they are graded, and your own modules that they import come with
    them. An exercise that is still empty is left out.

    \b
    Example:
      learn hand-in
      learn hand-in --lessons softmax,attention --out hw1.zip
    """
    context = find_context(ctx)
    workspace = context.require_workspace()
    chosen = choose_lessons(context.course, lessons)
    refuse_existing(out, force)
    written = [lesson for lesson in chosen if context.edited_at(lesson)]
    if not written:
        raise UsageError("nothing is written yet", where=str(workspace.root), next_step="learn check")
    files = _read_files(context, written)
    with (
        explain_unwritable("the zip", out),
        replacing(out) as temporary,
        ZipFile(temporary, "w", ZIP_DEFLATED) as archive,
    ):
        for name, source in files.items():
            archive.writestr(ZipInfo(name), source, ZIP_DEFLATED)
    _tell(context, chosen, written, files)
    put(paint(f"Written to {short_path(out.absolute())}. Hand in this one file.", "strong"))


def _read_files(context: CourseContext, lessons: list[Lesson]) -> dict[str, bytes]:
    """Return the files of the lessons, what they import, and weights, by their path in the workspace.

    They are packed byte for byte: a file may declare another encoding than UTF-8.
    Raises SubmissionError, for a link that leads out of the workspace, too.
    """
    from grader.submission import artefact_path, read_bytes, read_submission

    root = context.require_workspace().root
    files: dict[str, bytes] = {}
    for lesson in lessons:
        path = context.require_workspace().exercise_path(lesson)
        submission = read_submission(path, lesson, context.course, root)
        for note in submission.notes:
            warn(note)
        places = map(Path, [submission.path, *(place for place, _ in submission.siblings.values())])
        found = {place: read_bytes(place) for place in places}
        if submission.artefact is not None:
            found[artefact_path(path)] = submission.artefact
        files |= {place.absolute().relative_to(root.absolute()).as_posix(): each for place, each in found.items()}
    return files


def _tell(context: CourseContext, chosen: list[Lesson], written: list[Lesson], files: dict[str, bytes]) -> None:
    """Say what is in it, and what is known of each lesson."""
    progress = context.progress()
    for lesson in written:
        passed = passed_words(context.course, lesson.name)
        state = passed if progress[lesson.name].solved else f"not solved yet: learn check {lesson.name}"
        sign = signs().passed if progress[lesson.name].solved else signs().skipped
        put(f"{sign} {lesson.track}/{lesson.name}.py  {state}")
    own = {f"{lesson.track}/{lesson.name}.py" for lesson in written}
    for name in files.keys() - own:
        put(f"  {name}")
    empty = [lesson.name for lesson in chosen if lesson not in written]
    if empty:
        put(wrap(f"Not written, so left out: {', '.join(empty)}."))
