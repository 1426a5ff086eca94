"""Use a release as a learner would, before it is published."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.errors import CourseError, SelfattendError
from grader.files import read_file
from grader.judge.course_answers import load_mistake_sets
from grader.judge.course_files import load_file
from grader.judge.examination import Judge, with_judge
from grader.judge.processes.launcher import Launcher
from grader.model import Course, Lesson, LessonResult, Submission

NOT_PUBLIC = "take public=True from its mark, or change the check"


def dry_run(lesson: Lesson, released: Course, launcher: Launcher, seeds: Sequence[int]) -> None:
    """Prove a lesson of a release; *lesson* is that of the course with solutions.

    On every seed the reference passes, replayed and in a worker; the stub fails; correct alternatives pass; no check
    asks a known mistake for something that was not recorded, and none is taken for another. Raises CourseError for the
    first failure.
    """
    mine = released.lessons[lesson.name]

    def drive(judge: Judge) -> None:
        _replay(judge, lesson, mine, seeds)
        for seed in seeds:
            _require_pass(lesson, judge.examine(mine, _file(lesson, lesson.solution_path), seed), "the reference")
        if judge.examine(mine, _file(lesson, lesson.exercise_path), seeds[0]).passed:
            raise _error(lesson, "the stub passes the public checks", "mark a check public that it does not pass")
        _try_known_versions(judge, lesson, mine, seeds[0])

    with_judge(released, [mine], launcher, "cpu", drive)


def first_line(error: BaseException) -> str:
    """Describe an error in one line."""
    text = error.what if isinstance(error, SelfattendError) else str(error)
    return f"{type(error).__name__}: {text}".split("\n", 1)[0]


def _replay(judge: Judge, lesson: Lesson, mine: Lesson, seeds: Sequence[int]) -> None:
    for check in judge.checks_of(mine):
        if not check.public:
            what = f"a public check uses {check.item.name}, which is hidden"
            raise _error(lesson, what, "mark that public too, or let the other do without it")
        for seed in seeds:
            failure = judge.lesson_checks(mine, seed).run_on_reference(check)
            if failure is not None:
                what = (
                    f"{check.item.name} cannot be public: played back, the reference fails it ({first_line(failure)})"
                )
                raise _error(lesson, what, NOT_PUBLIC)


def _try_known_versions(judge: Judge, lesson: Lesson, mine: Lesson, seed: int) -> None:
    base = dict(vars(load_file(lesson.solution_path)))
    for mistake_set in load_mistake_sets(lesson):

        def grade(known: Any) -> LessonResult:
            version = mistake_set.build(known.changes, known.version)  # noqa: B023  called before the loop goes on
            return judge.examine_own(mine, {**base, mistake_set.function: version}, seed)  # noqa: B023  as above

        for right in mistake_set.alternatives:
            _require_pass(lesson, grade(right), f"the right alternative “{right.name}”")
        ids = {mistake.id for mistake in mistake_set.mistakes}
        for wrong in mistake_set.mistakes:
            result = grade(wrong)
            _require_recorded(lesson, result, wrong.label)
            if other := {named.id for named in result.mistakes} & ids - {wrong.id}:
                raise _error(lesson, f"{wrong.label} is taken for {', '.join(other)} by the public checks", NOT_PUBLIC)


def _file(lesson: Lesson, path: Path) -> Submission:
    return Submission(lesson.name, str(path), read_file(path))


def _require_pass(lesson: Lesson, result: LessonResult, who: str) -> None:
    _require_recorded(lesson, result, who)
    bad = next((check for check in result.checks if not check.passed), None)
    if bad is not None or not result.passed:
        why = f" ({bad.id} {bad.outcome}: {bad.message.splitlines()[0] if bad.message else ''})" if bad else ""
        raise _error(lesson, f"{who} does not pass the public checks{why}", "grader audit")


def _require_recorded(lesson: Lesson, result: LessonResult, who: str) -> None:
    for check in result.checks:
        if check.outcome == "grader-error":
            what = f"{check.id} cannot be public: what it asks depends on what was handed in, here {who}"
            raise _error(lesson, f"{what} ({check.message.splitlines()[0]})", NOT_PUBLIC)


def _error(lesson: Lesson, what: str, next_step: str) -> CourseError:
    return CourseError(f"{lesson.name}: {what}", where=str(lesson.checks_path), next_step=next_step)
