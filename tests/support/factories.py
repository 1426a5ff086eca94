"""Judge source text with the course of this checkout, or another."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from grader.course.load_course import load
from grader.judge.checks.check_runner import CheckRunner, collect_and_drive
from grader.judge.course_answers import open_course_answers
from grader.judge.examination import Judge, with_judge
from grader.judge.kept_fingerprints import KeptFingerprints
from grader.judge.processes.launcher import Launcher
from grader.model import Course, LessonResult, Submission

ROOT = Path(__file__).resolve().parents[2]


@cache
def course() -> Course:
    """Load the course of this checkout."""
    return load(ROOT)


def run_judge(
    launcher: Launcher,
    lesson: str,
    drive: Callable[[Judge], Any],
    of: Course | None = None,
    *,
    known: bool = False,
    device: str = "cpu",
) -> Any:
    """Run `drive(judge)` for one lesson and return what it returns.

    With `known`, the judge has what others of this process found out about the lesson, and leaves what it finds out;
    fingerprints of known mistakes it shares with all processes of the run, commands among them, as commands do.
    """
    the_course = of or course()
    if not the_course.root.is_relative_to(ROOT):  # a test's own, which it may change
        answers: list[Any] = []
        with_judge(
            the_course, [the_course.lessons[lesson]], launcher, "cpu", lambda judge: answers.append(drive(judge))
        )
        return answers[0]
    judge = Judge(the_course, open_course_answers(the_course), _collected(the_course.root, lesson), launcher, device)
    if known:
        vars(judge).update(_knowledge_of(the_course.root, lesson, device))
    return drive(judge)


def judge_source(
    launcher: Launcher,
    lesson: str,
    source: str,
    *,
    seed: int = 7,
    of: Course | None = None,
    siblings: dict[str, tuple[str, str]] | None = None,
    device: str = "cpu",
) -> LessonResult:
    """Return the verdict on `source` as a learner's file of `lesson`."""
    submission = Submission(lesson, f"{lesson}.py", source, siblings or {})
    examine = lambda judge: judge.examine(judge.course.lessons[lesson], submission, seed)
    return run_judge(launcher, lesson, examine, of, known=True, device=device)


@cache
def _collected(root: Path, lesson: str) -> CheckRunner:
    """Collect the checks of a lesson: once, as a judge does for all learners of a class."""
    runners: list[CheckRunner] = []
    collect_and_drive(root, [load(root).lessons[lesson].checks_path], runners.append)
    assert all(check.plain_arguments is not None for checks in runners[0].checks.values() for check in checks)
    return runners[0]


@lru_cache(maxsize=8)
def _knowledge_of(root: Path, _lesson: str, _device: str) -> dict[str, Any]:
    """What a judge works out about a lesson and keeps for all learners of a class: here, for all tests of a process."""
    return {"_diagnosticians": {}, "_fixed": {}, "_references": {}, "kept": _kept(root)}


@cache
def _kept(root: Path) -> KeptFingerprints:
    return KeptFingerprints(load(root))
