"""Judge source text with the course of this checkout, or another."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from grader.course.load_course import load
from grader.judge.examination import Judge, with_judge
from grader.judge.processes.launcher import Launcher
from grader.model import Course, LessonResult, Submission

ROOT = Path(__file__).resolve().parents[2]


@cache
def course() -> Course:
    """Load the course of this checkout."""
    return load(ROOT)


def run_judge(launcher: Launcher, lesson: str, drive: Callable[[Judge], Any], of: Course | None = None) -> Any:
    """Run `drive(judge)` for one lesson and return what it returns."""
    the_course = of or course()
    answers: list[Any] = []
    with_judge(the_course, [the_course.lessons[lesson]], launcher, "cpu", lambda judge: answers.append(drive(judge)))
    return answers[0]


def judge_source(
    launcher: Launcher,
    lesson: str,
    source: str,
    *,
    seed: int = 7,
    of: Course | None = None,
    siblings: dict[str, tuple[str, str]] | None = None,
) -> LessonResult:
    """Return the verdict on `source` as a learner's file of `lesson`."""
    the_course = of or course()
    submission = Submission(lesson, f"{lesson}.py", source, siblings or {})

    def examine(judge: Judge) -> LessonResult:
        if the_course.root == ROOT:
            vars(judge).update(_knowledge_of(lesson))
        return judge.examine(the_course.lessons[lesson], submission, seed)

    return run_judge(launcher, lesson, examine, the_course)


@cache
def _knowledge_of(_lesson: str) -> dict[str, dict[str, Any]]:
    """What a judge works out about a lesson and keeps for all learners of a class: here, for all tests of a process."""
    return {"_diagnosticians": {}, "_fixed": {}, "_references": {}}
