"""`grader new`: begin a lesson."""

from __future__ import annotations

import click

from grader.cli.context import load_course, short_path
from grader.cli.options import course_option
from grader.terminal.console import paint, put, signs, wrap


@click.command("new")
@click.argument("lesson", metavar="LESSON")
@click.option("--track", metavar="TRACK", help="The track to put it in; needed where the course has several.")
@course_option
@click.pass_context
def command(ctx: click.Context, lesson: str, track: str | None) -> None:
    """Write the files of a new LESSON from a template.

    It is put last in its track. Nothing is overwritten. `grader audit` then says what the lesson still lacks.

    \b
    Example:
      grader new rotary --track positions
      grader audit --lessons rotary
    """
    from grader.authoring.lesson_template import write_lesson

    course = load_course(ctx)
    *files, syllabus = write_lesson(course.root, lesson, track)
    for path in files:
        put(f"{paint(signs().passed, 'good')} {short_path(path)}")
    put(f"{paint(signs().passed, 'good')} {short_path(syllabus)}: the lesson stands last in its track.")
    put()
    skeleton = "The files are a skeleton that works: the function gives back its input."
    then = "Write the statement and the reference first, then checks and mistakes; the audit says what is missing."
    put(wrap(f"{skeleton} {then}"))
    put()
    put("Next  " + paint(f"grader audit --lessons {lesson}", "command"))
