"""Prove that the grader grades: references pass, and known mistakes are rejected and named.

For every lesson: its files are complete; the stub fails as a stub; the reference and every correct alternative score
10.0; every known mistake is rejected *and* named as itself, with a margin of ten tolerances on some probe. A check that
never rejected anything proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from grader.authoring.release.record_answers import unrecordable
from grader.course.stubs import read_functions
from grader.errors import SelfattendError
from grader.judge.course_files import load_file
from grader.judge.diagnosis.mistake_outputs import observe
from grader.judge.diagnosis.mistake_set import Alternative, Mistake
from grader.judge.diagnosis.name_mistake import Diagnostician
from grader.judge.examination import Judge, with_judge
from grader.judge.processes.launcher import Launcher
from grader.judge.values.compare import largest_error
from grader.model import Course, Lesson, LessonResult, Submission

SEEDS = (1, 2)  # every reference and alternative must pass, every mistake be named, on each
MIN_MARGIN = 10.0  # in tolerances of the probe
MIN_CHECKS = 8  # for each function to write


@dataclass
class LessonAudit:
    """What was proved for one lesson, as counts (proved, of how many), and what is wrong."""

    lesson: str
    rejected: tuple[int, int] = (0, 0)
    named: tuple[int, int] = (0, 0)
    alternatives: tuple[int, int] = (0, 0)
    checks: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Return True if nothing is wrong."""
        return not self.problems


def audit(course: Course, lessons: Iterable[Lesson], launcher: Launcher) -> Iterator[LessonAudit]:
    """Audit lesson by lesson; yield each when it is done."""
    for lesson in lessons:
        report = LessonAudit(lesson.name)
        report.problems += list(_missing_files(lesson)) + list(_check_texts(lesson))
        if lesson.checks_path.is_file() and lesson.solution_path.is_file():
            try:
                with_judge(course, [lesson], launcher, "cpu", lambda judge: _prove(judge, lesson, report))  # noqa: B023  called at once
            except SelfattendError as error:
                report.problems.append(str(error))
        yield report


# --- files and texts --------------------------------------------------------------------------------------------------


def _missing_files(lesson: Lesson) -> Iterator[str]:
    paths = (lesson.text_path, lesson.exercise_path, lesson.solution_path, lesson.checks_path, lesson.mistakes_path)
    for path in paths:
        if not path.is_file():
            yield f"{path.parent.parent.name}/{path.parent.name}/{path.name} is missing."


def _check_texts(lesson: Lesson) -> Iterator[str]:
    for function in lesson.functions:
        if len(function.statement.split()) < 20:
            yield f"{function.name}: the docstring of the stub is no complete statement."
        rungs = lesson.hints.get(function.name, ())
        if len(rungs) < 3:
            yield f"{function.name}: {len(rungs)} hints; a ladder has three or four."
    if not lesson.solution_path.is_file():
        return
    written = {f.name: f.signature for f in read_functions(lesson.solution_path)}
    for function in lesson.functions:
        if written.get(function.name) != function.signature:
            found = written.get(function.name, "nothing")
            yield f"{function.name}: the stub says {function.signature}, the reference {found}."


# --- proofs -----------------------------------------------------------------------------------------------------------


def _prove(judge: Judge, lesson: Lesson, report: LessonAudit) -> None:
    diagnosticians = judge.diagnosticians(lesson)
    checks = judge.checks_of(lesson)
    report.checks = len(checks)
    for function in lesson.functions:
        mine = [check for check in checks if check.function_in(lesson) == function.name]
        if len(mine) < MIN_CHECKS:
            report.problems.append(f"{function.name}: {len(mine)} checks; at least {MIN_CHECKS} are needed.")
        if function.name not in diagnosticians:
            report.problems.append(f"{function.name}: no family of known mistakes.")
    _prove_stub_and_reference(judge, lesson, report)
    report.problems += unrecordable(judge, lesson)
    for diagnostician in diagnosticians.values():
        mistake_set = diagnostician.mistake_set
        for what, known in (("mistake", mistake_set.mistakes), ("correct alternative", mistake_set.alternatives)):
            if not known:
                report.problems.append(
                    f"{mistake_set.function}: its family has no {what} yet; nothing is proved without."
                )
        _prove_mistake_set(judge, lesson, diagnostician, report)


def _prove_stub_and_reference(judge: Judge, lesson: Lesson, report: LessonAudit) -> None:
    stub = _grade_file(judge, lesson, lesson.exercise_path)
    wrong = {mistake.id for mistake in stub.mistakes} != {"stub"}
    if stub.passed or wrong:
        named = ", ".join(mistake.id for mistake in stub.mistakes) or "nothing"
        report.problems.append(f"The stub must fail as `stub`; it scored {stub.score} and was named {named}.")
    reference = _grade_file(judge, lesson, lesson.solution_path)
    if reference.score != 10.0:
        report.problems.append(f"The reference scores {reference.score}: {_first_failure(reference)}")


def _grade_file(judge: Judge, lesson: Lesson, path: Path) -> LessonResult:
    return judge.examine(lesson, Submission(lesson.name, str(path), path.read_text(encoding="utf-8")), SEEDS[0])


def _prove_mistake_set(judge: Judge, lesson: Lesson, diagnostician: Diagnostician, report: LessonAudit) -> None:
    mistake_set = diagnostician.mistake_set
    base = dict(vars(load_file(lesson.solution_path)))
    own = {**base, mistake_set.function: mistake_set.build({})}
    for name, namespace in (("reference", base), ("factory with its own steps", own)):
        for seed in SEEDS:
            result = judge.examine_own(lesson, namespace, seed)
            if result.score != 10.0:
                report.problems.append(
                    f"{mistake_set.function}: the {name} scores {result.score} on seed {seed}: {_first_failure(result)}"
                )

    def grade(known: Mistake | Alternative) -> list[LessonResult]:
        namespace = {**base, mistake_set.function: mistake_set.build(known.changes, known.version)}
        return [judge.examine_own(lesson, namespace, seed) for seed in SEEDS]

    for mistake in mistake_set.mistakes:
        _prove_mistake(diagnostician, mistake, grade(mistake), report)
    for alternative in mistake_set.alternatives:
        results = grade(alternative)
        good = all(result.score == 10.0 for result in results)
        report.alternatives = _add_to(report.alternatives, good)
        if not good:
            failure = next(_first_failure(result) for result in results if result.score != 10.0)
            report.problems.append(f"{mistake_set.function}, alternative “{alternative.name}” is rejected: {failure}")


def _prove_mistake(
    diagnostician: Diagnostician, mistake: Mistake, results: list[LessonResult], report: LessonAudit
) -> None:
    rejected = not any(result.passed for result in results)
    other = next((ids for result in results if (ids := [found.id for found in result.mistakes]) != [mistake.id]), None)
    named = other is None
    report.rejected, report.named = _add_to(report.rejected, rejected), _add_to(report.named, named)
    if not rejected:
        report.problems.append(f"{mistake.label} passes every check.")
    if not named:
        report.problems.append(f"{mistake.label} is named {other or 'nothing'}.")
    margin = _margin(diagnostician, mistake)
    if margin < MIN_MARGIN:
        report.problems.append(f"{mistake.label}: its margin is {margin:.1f} tolerances; {MIN_MARGIN:g} are needed.")


def _margin(diagnostician: Diagnostician, mistake: Mistake) -> float:
    """Return the largest distance from the reference on any probe, in tolerances of that probe."""
    subject = diagnostician.outputs.subject_with((mistake,))
    distances = [0.0]
    for probe in diagnostician.probes:
        expected = diagnostician.outputs.reference(probe)
        distances.append(largest_error(observe(probe, subject, diagnostician.arrays), expected) / probe.atol)
    return max(distances)


def _add_to(count: tuple[int, int], good: bool) -> tuple[int, int]:
    return count[0] + good, count[1] + 1


def _first_failure(result: LessonResult) -> str:
    for check in result.checks:
        if not check.passed:
            return f"{check.id} {check.outcome}: {check.message.splitlines()[0] if check.message else ''}"
    return result.state
