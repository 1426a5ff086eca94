"""`grader audit`: prove that a course's checks do their work."""

from __future__ import annotations

import string
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.authoring.audit.forms import find_uneven, form_table
from grader.cli.lesson_parameters import choose_lessons, lessons_option
from grader.cli.options import COURSE, WholeNumber, course_option, json_option
from grader.cli.output import put_json
from grader.course import load, locate
from grader.errors import CourseError
from grader.judge.own_limits import usable_cores
from grader.model import SCHEMA, Course, Lesson
from grader.terminal.console import paint, put, signs, wrap
from grader.terminal.spinner import Spinner
from grader.terminal.text import Signs, plural

if TYPE_CHECKING:
    from grader.authoring.audit.lesson_audit import LessonAudit
    from grader.quiz.bank.lint import BankAudit

COLUMNS = ("checks", "mistakes rejected", "named", "alternatives passed")
MIN_LESSON_COLUMN = len("lesson")
MAX_SEEDS = 1000
MATRIX_COLUMNS = 80
MAX_LETTERS = 36  # of checks side by side
LETTERS = string.ascii_letters + string.digits + "".join(map(chr, range(0xC0, 0x250)))


@click.command("audit")
@click.argument("folder", metavar="[COURSE]", required=False, type=click.Path(path_type=Path))
@lessons_option
@click.option("--seeds", type=WholeNumber(1, MAX_SEEDS), default=5, show_default=True, help="Seeds to prove on.")
@click.option(
    "--jobs", type=WholeNumber(1), metavar="N", help="Lessons audited at the same time; one a core without it."
)
@click.option("--matrix", is_flag=True, help="Show which mistake is caught by which checks.")
@json_option
@course_option
@click.pass_context
def command(
    ctx: click.Context,
    folder: Path | None,
    lessons: str | None,
    seeds: int,
    jobs: int | None,
    matrix: bool,
    as_json: bool,
) -> None:
    """Grade the grader: prove that a course's checks do their work.

    COURSE is a folder; without it, the course in use.

    For every lesson: its files are there; the stub fails, and what its examples show is what the reference gives; on
    each of several seeds the reference and every correct alternative pass every check, and every known mistake is
    rejected; each mistake is named as itself, and each check fails something; a wrong form costs about the same in
    every lesson. For the quiz, with --lessons for the questions on these: 200 variants of each question are as they
    must be, and none is ambiguous. Exit status 0 if all of it holds, 1 if not; what is wrong is told with its file and
    line.

    \b
    Example:
      grader audit
      grader audit my-course --lessons softmax,attention --jobs 1
      grader audit --lessons softmax --matrix
    """
    if folder is not None:
        ctx.meta[COURSE] = folder
    faults: dict[str, CourseError] = {}
    course = load(locate(ctx.meta.get(COURSE)), faults=faults)
    only = {name for name in (lessons or "").split(",") if name in faults}
    rest = ",".join(name for name in (lessons or "").split(",") if name not in faults)
    chosen = [] if only and not rest else choose_lessons(course, rest or None)
    shown = {name: error for name, error in faults.items() if name in only or not lessons}
    audits = _audit(course, chosen, shown, seeds, min(jobs or usable_cores(), len(chosen)))
    names = [*shown, *(lesson.name for lesson in chosen)]
    done = list(audits) if as_json else list(_print_rows(audits, lesson_column(names)))
    for report, what in find_uneven(done):
        report.problems.append(what)
    questions = _questions(course, set(names) if lessons else None)
    if as_json:
        put_json(to_object(done, questions, matrix))
    else:
        _print_findings(done, questions, matrix)
    ctx.exit(0 if _is_clean(done, questions) else 1)


def _print_rows(audits: Iterator[LessonAudit], width: int) -> Iterator[LessonAudit]:
    """Print a line as each lesson is done."""
    put(paint(head(width), "strong"))
    for report in audits:
        put(paint(row(report, width, signs()), "good" if report.clean else "bad"))
        yield report
    put()


def _print_findings(audits: Sequence[LessonAudit], questions: BankAudit | None, with_matrix: bool) -> None:
    """Print the problems, what was found of the questions, what a wrong form costs, and which check caught what."""
    if table := form_table(audits):
        put("\n".join(table) + "\n")
    for report in audits if with_matrix else []:
        for function, caught in report.matrix.items():
            put(paint(f"{report.lesson}, {function}:", "strong"))
            put("\n".join(matrix_table(caught)) + "\n")
    for report in audits:
        if not report.clean:
            put(f"In {paint(report.lesson, 'strong')}:")
            _list_problems(report.problems)
    put(paint(conclusion(audits), "strong"))
    if questions:
        put(paint(quiz_conclusion(questions), "strong"))
        _list_problems(questions.problems)


def _list_problems(problems: Sequence[str]) -> None:
    for problem in problems:
        put(f"  {paint(signs().failed, 'bad')} {wrap(problem, 4).lstrip()}")


def _questions(course: Course, on: Collection[str] | None) -> BankAudit | None:
    from grader.quiz.bank.lint import audit_bank

    with Spinner("Auditing the questions"):
        return audit_bank(course.root / "lessons", on=on)


def _audit(
    course: Course, lessons: Sequence[Lesson], faults: Mapping[str, CourseError], seeds: int, jobs: int
) -> Iterator[LessonAudit]:
    from grader.authoring.audit.lesson_audit import LessonAudit

    for name, error in faults.items():
        report = LessonAudit(name, course.root)
        report.add_error(error)
        yield report
    if jobs > 1:
        from grader.authoring.audit.processes import audit_in_processes

        yield from _with_spinner(
            audit_in_processes(course.root, [lesson.name for lesson in lessons], seeds, jobs), lessons
        )
        return
    from grader.judge.session import with_workers

    with with_workers(replace(course, limits=course.limits_for(*lessons)), "cpu") as (launcher, _):
        from grader.authoring.audit.audit_lessons import audit  # not before the launcher has started: it imports pytest

        yield from _with_spinner(audit(course, lessons, launcher, seeds), lessons)


def _with_spinner(audits: Iterator[LessonAudit], lessons: Sequence[Lesson]) -> Iterator[LessonAudit]:
    """Yield each audit, and say which lesson is waited for."""
    for lesson in lessons:
        with Spinner(f"Auditing {lesson.name}"):
            report = next(audits)
        yield report


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
    if questions.problems and not questions.topics:
        return f"The questions cannot be read: {plural(len(questions.problems), 'problem')}."
    counts = f"{plural(questions.families, 'question')} on {plural(questions.topics, 'topic')}"
    generated = f"{questions.generated} with numbers that are drawn"
    wrong = plural(len(questions.problems), "problem") if questions.problems else "none is ambiguous"
    return f"{counts}, {generated}: {wrong}."


def matrix_table(caught: Mapping[str, Sequence[str]]) -> list[str]:
    """Return lines that show which of the checks fail each mistake.

    A letter stands for a check; the letters of those that fail a mistake stand beside it, each in its column.
    """
    checks = list(dict.fromkeys(check for failed in caught.values() for check in failed))
    lines = [f"  {letter}  {check}" for letter, check in zip(LETTERS, checks, strict=False)]
    for first in range(0, len(checks), MAX_LETTERS):
        block = checks[first : first + MAX_LETTERS]
        letters = LETTERS[first : first + MAX_LETTERS]
        room = MATRIX_COLUMNS - len(block) - 4
        for mistake, failed in caught.items():
            cells = "".join(letter if check in failed else "·" for letter, check in zip(letters, block, strict=False))
            shown = mistake if len(mistake) <= room else f"{mistake[: room - 1]}…"
            lines.append(f"  {shown.ljust(room)}  {cells}")
    return lines


def to_object(audits: Sequence[LessonAudit], questions: BankAudit | None, matrix: bool = False) -> dict[str, Any]:
    """Return the documented object of `grader audit --json`; each pair is [proved, of how many]."""
    keys = ("checks", "rejected", "named", "alternatives", "forms", "problems") + ("matrix",) * matrix
    return {
        "schema": SCHEMA,
        "clean": _is_clean(audits, questions),
        "questions": questions and asdict(questions),
        "lessons": {report.lesson: {key: getattr(report, key) for key in keys} for report in audits},
    }


def _is_clean(audits: Sequence[LessonAudit], questions: BankAudit | None) -> bool:
    return all(report.clean for report in audits) and not (questions and questions.problems)
