"""`grader new`: begin a lesson, or a course with it."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.context import load_course, short_path
from grader.cli.options import COURSE, course_option
from grader.course.find_course import COURSE_FILE
from grader.files import is_file
from grader.terminal.console import paint, put, signs, wrap


@click.command("new")
@click.argument("lesson", metavar="LESSON")
@click.option("--track", metavar="TRACK", help="The track to put it in; needed where the course has several.")
@click.option(
    "--from",
    "solution",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A solution: the stub, the reference with its steps marked and first checks are made from it.",
)
@course_option
@click.pass_context
def command(ctx: click.Context, lesson: str, track: str | None, solution: Path | None) -> None:
    """Write the files of a new LESSON from a template.

    It is put last in its track. Nothing is overwritten. Where --course names a folder without a course, one is begun
    there. `grader audit` then says what the lesson still lacks.

    \b
    Example:
      grader new rotary --course my-course
      grader new rotary --course my-course --from rotary.py
    """
    from grader.authoring.lesson_template import write_lesson

    named: Path | None = ctx.meta.get(COURSE)
    begun = named is not None and not is_file(named / COURSE_FILE)
    root = named.absolute() if named is not None else load_course(ctx).root
    *files, syllabus = write_lesson(root, lesson, track, solution)
    for path in files:
        put(f"{paint(signs().passed, 'good')} {short_path(path)}")
    where = "a new course, with the lesson in it." if begun else "the lesson stands last in its track."
    put(f"{paint(signs().passed, 'good')} {short_path(syllabus)}: {where}")
    put()
    skeleton = "The files are a skeleton that works: the function gives back its input."
    if solution is not None:
        skeleton = "The stub has your signatures and docstrings, the reference your code with a name for each step."
    then = "Write the statement and the reference first, then checks and mistakes; the audit says what is missing."
    put(wrap(f"{skeleton} {then}"))
    put()
    course = f" --course {short_path(named)}" if named is not None else ""
    put("Next  " + paint(f"grader audit --lessons {lesson}{course}", "command"))
