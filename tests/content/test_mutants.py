"""No small change of a reference passes its checks, but for those that change nothing.

`equal_mutants.toml` lists, lesson by lesson, the changes after which the code is as right as before. Whoever changes a
reference looks at what passes then: `pytest -m "" tests/content/test_mutants.py -k LESSON` prints it.
"""

from __future__ import annotations

import signal
import tomllib
from pathlib import Path
from typing import Any

import pytest
from support.factories import course, run_judge
from support.mutants import mutants
from support.repeat import rarely

from grader.judge.checks.loaded_submission import Known
from grader.judge.course_files import load_file
from grader.judge.examination import Judge

EQUAL = tomllib.loads(Path(__file__).with_name("equal_mutants.toml").read_text("utf-8"))
LESSONS = [name for name, lesson in course().lessons.items() if lesson.kind != "capstone"]
SEED, SECONDS = 7, 20  # a change may make a loop endless


class TooLong(BaseException):
    """A change took too long: what ends no check has not passed it."""


def passes(judge: Judge, lesson: str, source: str) -> bool:
    """Return True if a changed reference passes every check of its lesson."""
    kept = course().lessons[lesson]
    changed: dict[str, Any] = {"__name__": lesson, "__file__": str(kept.solution_path)}
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        exec(compile(source, lesson, "exec"), changed)
        results = judge.check_own(kept, {**vars(load_file(kept.solution_path)), **changed}, SEED, Known())
    except (Exception, TooLong):
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return all(result.passed for result in results)


@pytest.mark.parametrize("lesson", rarely(LESSONS))
def test_a_small_change_of_the_reference_fails_a_check(lesson, launcher):
    """Every operator, number, variable, argument and statement of a reference is held by a check."""

    def late(*_: Any) -> None:
        raise TooLong

    def drive(judge: Judge) -> list[str]:
        source = course().lessons[lesson].solution_path.read_text("utf-8")
        return [what for what, text in mutants(source) if passes(judge, lesson, text)]

    before = signal.signal(signal.SIGALRM, late)
    try:
        passed = run_judge(launcher, lesson, drive, known=True)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert sorted(passed) == EQUAL.get(lesson, [])
