"""`grader audit`: prove that a course's checks do their work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.context import load_course
from grader.cli.lesson_parameters import choose_lessons, lessons_option
from grader.cli.options import COURSE, course_option, json_option
from grader.cli.output import put_json
from grader.model import SCHEMA, Course, Lesson
from grader.terminal.console import paint, put, signs, wrap
from grader.terminal.spinner import Spinner
from grader.terminal.text import Signs, plural

if TYPE_CHECKING:
    from grader.authoring.audit import LessonAudit
    from grader.quiz.bank.lint import BankAudit

COLUMNS = ("checks", "mistakes rejected", "named", "alternatives passed")
MIN_LESSON_COLUMN = len("lesson")


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
    audits = list(_audit(course, lessons))
    questions = _questions(course) if whole else None
    put_json(to_object(audits, questions))
    return _is_clean(audits, questions)


def _print_table(course: Course, lessons: Sequence[Lesson], whole: bool) -> bool:
    """Print a line as each lesson is done, then the problems, and the questions if `whole`; return True if clean."""
    width = lesson_column([lesson.name for lesson in lessons])
    put(paint(head(width), "strong"))
    audits = []
    for report in _audit(course, lessons):
        put(paint(row(report, width, signs()), "good" if report.clean else "bad"))
        audits.append(report)
    put()
    for report in audits:
        if not report.clean:
            put(f"In {paint(report.lesson, 'strong')}:")
            _list_problems(report.problems)
    put(paint(conclusion(audits), "strong"))
    questions = _questions(course) if whole else None
    if questions:
        put(paint(quiz_conclusion(questions), "strong"))
        _list_problems(questions.problems)
    return _is_clean(audits, questions)


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


# --- the table and the object -----------------------------------------------------------------------------------------


def lesson_column(lessons: Sequence[str]) -> int:
    """Return the width of the column with the lessons' names."""
    return max([MIN_LESSON_COLUMN, *map(len, lessons)])


def head(width: int) -> str:
    """Return the head of the table."""
    return "  ".join(["  lesson".ljust(width + 2), *COLUMNS])


def row(report: LessonAudit, width: int, signs: Signs) -> str:
    """Return one lesson's line."""
    sign = signs.failed if report.problems else signs.passed
    pairs = (report.rejected, report.named, report.alternatives)
    cells = [str(report.checks), *(f"{proved}/{count}" for proved, count in pairs)]
    padded = [cell.rjust(len(column)) for cell, column in zip(cells, COLUMNS, strict=True)]
    return "  ".join([f"{sign} {report.lesson.ljust(width)}", *padded])


def conclusion(audits: Sequence[LessonAudit]) -> str:
    """Sum up the lessons in one sentence."""
    wrong = sum(len(report.problems) for report in audits)
    lessons = plural(len(audits), "lesson")
    return f"{lessons}: {plural(wrong, 'problem')}." if wrong else f"{lessons}: everything is proved."


def quiz_conclusion(questions: BankAudit) -> str:
    """Sum up the quiz in one sentence."""
    counts = f"{plural(questions.families, 'question')} on {plural(questions.topics, 'topic')}"
    generated = f"{questions.generated} with numbers that are drawn"
    wrong = plural(len(questions.problems), "problem") if questions.problems else "none is ambiguous"
    return f"{counts}, {generated}: {wrong}."


def to_object(audits: Sequence[LessonAudit], questions: BankAudit | None) -> dict[str, Any]:
    """Return the documented object of `grader audit --json`; each pair is [proved, of how many]."""
    keys = ("checks", "rejected", "named", "alternatives", "problems")
    return {
        "schema": SCHEMA,
        "clean": _is_clean(audits, questions),
        "questions": questions and asdict(questions),
        "lessons": {report.lesson: {key: getattr(report, key) for key in keys} for report in audits},
    }


def _is_clean(audits: Sequence[LessonAudit], questions: BankAudit | None) -> bool:
    return all(report.clean for report in audits) and not (questions and questions.problems)
