"""Prove that the grader grades: references pass, and known mistakes are rejected and named.

For every lesson: its files are complete; the stub fails as a stub; the reference and every correct alternative pass
every check on every seed; every known mistake is rejected on every seed *and* named as itself, with a margin of ten
tolerances on some probe; and every check is failed by something. A check that never rejected anything proves nothing.
"""

from __future__ import annotations

import gc
import traceback
from collections.abc import Iterable, Iterator

from grader.authoring.audit.check_texts import check_texts
from grader.authoring.audit.lesson_audit import LessonAudit
from grader.authoring.audit.proof import Proof
from grader.errors import SelfattendError
from grader.judge.examination import with_judge
from grader.judge.processes.launcher import Launcher
from grader.model import Course, Lesson


def audit(course: Course, lessons: Iterable[Lesson], launcher: Launcher, seeds: int) -> Iterator[LessonAudit]:
    """Audit lesson by lesson, on so many seeds; yield each when it is done."""
    for lesson in lessons:
        gc.disable()  # what a lesson makes mostly stays until it is done: to search it costs 2 to 6 % of the time
        try:
            report = _audit_lesson(course, lesson, launcher, seeds)
        finally:
            gc.enable()
        gc.collect()
        yield report


def _audit_lesson(course: Course, lesson: Lesson, launcher: Launcher, seeds: int) -> LessonAudit:
    report = LessonAudit(lesson.name, course.root)
    try:
        if check_texts(lesson, report.add):
            with_judge(course, [lesson], launcher, "cpu", lambda judge: Proof(judge, lesson, report, seeds).run())
    except SelfattendError as error:
        report.add_error(error)
    except Exception as error:
        _add_author_error(report, lesson, error)
    return report


def _add_author_error(report: LessonAudit, lesson: Lesson, error: Exception) -> None:
    """Note an error to which a file of the lesson led; raise any other again."""
    files = {str(path): path for path in (lesson.solution_path, lesson.checks_path, lesson.mistakes_path)}
    steps = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [(files[name], line) for name, line in steps if name in files]
    if not own:
        raise error
    report.add(f"{type(error).__name__}: {error}", *own[-1])
