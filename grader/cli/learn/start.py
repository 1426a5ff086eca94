"""`learn start`: make a workspace, or bring one up to date."""

from __future__ import annotations

import os
from pathlib import Path

import click

from grader.cli.context import CourseContext, current_folder, load_course, short_path
from grader.cli.learn.next_step import way_length
from grader.cli.options import course_option
from grader.course import trust
from grader.errors import SubmissionError, UsageError, WorkspaceError
from grader.files import replacing
from grader.model import FULL_WAY, Course, Lesson
from grader.terminal.console import paint, put, signs, wrap
from grader.terminal.text import capitalize, clean, command_line, plural
from grader.workspace import Workspace, create, find, is_workspace

MAX_EXERCISE_BYTES = 200_000  # that a notebook begins with


@click.command("start")
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option("--way", metavar="NAME", help='Follow this way through the course; "full" takes every lesson.')
@click.option("--notebook", is_flag=True, help="Write each lesson as a Jupyter notebook, too.")
@course_option
@click.pass_context
def command(ctx: click.Context, directory: Path | None, way: str | None, notebook: bool) -> None:
    """Make DIR, or this folder, a workspace with every exercise.

    A file that is already there is never overwritten. Run it again to add what a newer version of the course brings.

    \b
    Example:
      learn start my-transformer
      learn start my-transformer --notebook
      learn start --way full
    """
    folder = current_folder()
    target = folder / directory if directory else folder
    course = load_course(ctx, _find_existing(target))
    if way and way not in course.ways:
        names = ", ".join(course.ways)
        raise UsageError(f'there is no way "{way}" through this course', next_step=f"name one of: {names}")
    in_use = target.is_dir() and any(target.iterdir())
    changes = create(target, course, way or "")
    trust(course.root)  # the user has named it, or has been asked
    root = changes.workspace.root
    where = "this folder" if root == folder else clean(short_path(root))
    if changes.written:
        number = len(changes.kept)
        as_is = "it is" if number == 1 else "they are"
        kept = f", {plural(number, 'file')} of yours kept as {as_is}" if number else ""
        put(f"{paint(signs().passed, 'good')} {plural(len(changes.written), 'exercise')} written to {where}{kept}.")
        along = course.way(changes.workspace.way)
        if along.name != FULL_WAY:
            put(wrap(f"{capitalize(along.title)} takes {way_length(course, along)}."))
    notebooks = _write_notebooks(changes.workspace, course) if notebook else 0
    if not (changes.written or notebooks):
        each = "exercise and every notebook" if notebook else "exercise"
        put(f"{paint(signs().passed, 'good')} Nothing to add: every {each} is in {where} already.")
    if in_use and changes.written:
        added, kept = (
            ", ".join(str(path.relative_to(root)) for path in paths) for paths in (changes.written, changes.kept)
        )
        left = f"Kept: {kept}. " if kept else ""
        put(wrap(f"Added: {added}. {left}Nothing else in the folder was changed.", 2))
    if notebooks:
        put(f"{paint(signs().passed, 'good')} {plural(notebooks, 'notebook')} written beside the exercises.")
    for path in changes.carried:
        put(wrap(f"{clean(short_path(path))} begins with your work on the lesson's former name.", 2))
    if way:
        put(f"{paint(signs().passed, 'good')} From now on you follow {course.way(way).title}.")
    put()
    if root != folder:
        put("Next  " + paint(command_line("cd", short_path(root)), "command"))
        put("      " + paint(f"learn read {course.way(changes.workspace.way).lessons[0]}", "command"))
    else:
        steps = _notebook_steps(CourseContext(course, changes.workspace).lesson(None)) if notebook else ["learn"]
        put("Next  " + "\n      ".join(paint(step, "command") for step in steps))


def _notebook_steps(lesson: Lesson) -> list[str]:
    """Return the commands that open a lesson's notebook; before them, how to get JupyterLab where it is missing."""
    import shutil  # here: only who wants notebooks needs it

    opened = command_line("jupyter", "lab", f"{lesson.track}/{lesson.name}.ipynb")
    return [opened] if shutil.which("jupyter-lab") else ["pip install jupyterlab", opened]


def _write_notebooks(workspace: Workspace, course: Course) -> int:
    """Write the notebooks that are not there; return how many."""
    from grader.notebook.lesson_notebook import make_notebook

    paths = {workspace.exercise_path(lesson).with_suffix(".ipynb"): lesson for lesson in course.lessons.values()}
    missing = {path: lesson for path, lesson in paths.items() if not os.path.lexists(path)}
    for path, lesson in missing.items():
        try:
            with replacing(path, "tmp") as temporary:
                temporary.write_text(make_notebook(lesson, _read_exercise(path)), encoding="utf-8", newline="")
        except OSError as error:
            what = f"the notebook cannot be written: {error.strerror}"
            raise WorkspaceError(what, where=str(path), next_step="learn start --notebook") from None
    return len(missing)


def _read_exercise(notebook: Path) -> str:
    """Return what is in the exercise's file beside a notebook; "" where it cannot be read, or leads elsewhere."""
    from grader.submission import read_source

    exercise = notebook.with_suffix(".py")
    try:
        is_written = not exercise.is_symlink() and exercise.stat().st_size <= MAX_EXERCISE_BYTES
        return read_source(exercise) if is_written else ""
    except (SubmissionError, OSError):
        return ""


def _find_existing(folder: Path) -> Workspace | None:
    """Find the workspace in a folder; None also where its mark is damaged, which is then written again."""
    if not is_workspace(folder):
        return None
    try:
        return find(folder)
    except WorkspaceError:
        return None
