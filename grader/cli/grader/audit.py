"""`grader audit`: prove that a course's checks do their work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.context import load_course
from grader.cli.grader.lesson_option import choose_lessons, lessons_option
from grader.cli.options import COURSE, course_option, json_option
from grader.model import Course, Lesson
from grader.reports.formats.audit_table import conclusion, head, lesson_column, quiz_conclusion, row, to_object
from grader.terminal.console import paint, put, signs, wrap
from grader.terminal.spinner import Spinner

if TYPE_CHECKING:
    from grader.authoring.audit import LessonAudit
    from grader.quiz.bank.lint import BankAudit


@click.command("audit")
@click.argument("folder", metavar="[COURSE]", required=False, type=click.Path(path_type=Path))
@lessons_option
@json_option
@course_option
@click.pass_context
def command(ctx: click.Context, folder: Path | None, lessons: str | None, as_json: bool) -> None:
    """Grade the grader: prove that a course's checks do their work.

    COURSE is a folder; without it, the course in use.

    For every lesson: its files are there, the stub fails, the reference scores 10.0, every known mistake is rejected
    and named as itself, every correct alternative passes. For the quiz, unless --lessons is given: 200 variants of each
    question are as they must be, and none is ambiguous. Exit status 0 if all of it holds, 1 if not.

    \b
    Example:
      grader audit
      grader audit my-course --lessons softmax,attention
    """
    if folder is not None:
        ctx.meta[COURSE] = folder
    the_course = load_course(ctx)
    chosen = choose_lessons(the_course, lessons)
    clean = _print_json(the_course, chosen, not lessons) if as_json else _print_table(the_course, chosen, not lessons)
    ctx.exit(0 if clean else 1)


def _print_json(course: Course, lessons: Sequence[Lesson], whole: bool) -> bool:
    """Print the object; return True if all is clean. `whole`: audit the questions too."""
    from grader.reports.formats.to_json import dump

    audits = list(_audit(course, lessons))
    questions = _questions(course) if whole else None
    click.echo(dump(to_object(audits, questions)))
    return all(report.clean for report in audits) and not (questions and questions.problems)


def _print_table(course: Course, lessons: Sequence[Lesson], whole: bool) -> bool:
    """Print a line as each lesson is done, then the problems, and the questions if `whole`; return True if clean."""
    width = lesson_column([lesson.name for lesson in lessons])
    put(paint(head(width), "strong"))
    audits = []
    for report in _audit(course, lessons):
        put(paint(row(report, width, signs()), "good" if report.clean else "bad"))
        audits.append(report)
    put()
    for report in [report for report in audits if not report.clean]:
        put(f"In {paint(report.lesson, 'strong')}:")
        _list_problems(report.problems)
    put(paint(conclusion(audits), "strong"))
    questions = _questions(course) if whole else None
    if questions:
        put(paint(quiz_conclusion(questions), "strong"))
        _list_problems(questions.problems)
    return all(report.clean for report in audits) and not (questions and questions.problems)


def _list_problems(problems: Sequence[str]) -> None:
    for problem in problems:
        put(f"  {paint(signs().failed, 'bad')} {wrap(problem, 4).lstrip()}")


def _questions(course: Course) -> BankAudit | None:
    from grader.quiz.bank.lint import audit_bank

    with Spinner("Auditing the questions"):
        return audit_bank(course.root / "lessons")


def _audit(course: Course, lessons: Sequence[Lesson]) -> Iterator[LessonAudit]:
    from grader.judge.session import with_workers

    with with_workers(course, "cpu") as (launcher, _):
        from grader.authoring.audit import audit  # not before the launcher has started: it imports pytest

        for lesson in lessons:
            with Spinner(f"Auditing {lesson.name}"):
                reports = list(audit(course, [lesson], launcher))
            yield from reports
