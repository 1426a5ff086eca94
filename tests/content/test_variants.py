"""Each wrong line of `variants/` in the place of the reference's is rejected, and named as what it is.

A row is a mistake's id and what stands in place of steps (`version`: of the whole function). They were written before
the known mistakes that they are named by, and in other words. The answers of `answers/` are whole files: those say
more about style, these cost a hundredth.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.course_files import load
from support.factories import course, run_judge
from support.repeat import FEW_LESSONS, rarely

from grader.judge.course_answers import load_mistake_sets
from grader.judge.course_files import load_file
from grader.judge.examination import Judge
from grader.judge.mistakes.marked_source import MarkedSource
from grader.model import LessonResult

SEED = 7
NAMES = {path.stem: vars(load(path)) for path in sorted((Path(__file__).parent / "variants").glob("*.py"))}
# by lesson and function
WRONG: dict[tuple[str, str], list[tuple[str, dict[str, str]]]] = {
    (lesson, function): rows for lesson, names in NAMES.items() for function, rows in names["WRONG"].items()
}
ROWS = [(*where, row) for where, rows in WRONG.items() for row in range(len(rows))]
USUAL = [row for row in ROWS if row[0] in FEW_LESSONS]


def grade_rows(judge: Judge, name: str) -> dict[tuple[str, int], LessonResult]:
    """The verdicts on a lesson's reference with each of these lines in it, graded in this process."""
    lesson, found = course().lessons[name], {}
    base = dict(vars(load_file(lesson.solution_path)))
    for mistake_set in load_mistake_sets(lesson):
        known = mistake_set.source
        source = MarkedSource(known.path, known.target, {**known.names, **NAMES[name]}, known.after)
        for number, (_, changes) in enumerate(WRONG.get((name, mistake_set.function), ())):
            version = changes.get("version")
            made = source.build_version(version) if version else source.build(changes)
            found[mistake_set.function, number] = judge.examine_own(lesson, {**base, mistake_set.function: made}, SEED)
    return found


@pytest.fixture(scope="module")
def verdict_on(launcher: Any) -> Callable[[str, str, int], LessonResult]:
    """Looks up the verdict on one row; all rows of its lesson are graded the first time that one is asked for."""
    known: dict[str, dict[tuple[str, int], LessonResult]] = {}

    def verdict(lesson: str, function: str, number: int) -> LessonResult:
        if lesson not in known:
            known[lesson] = run_judge(launcher, lesson, lambda judge: grade_rows(judge, lesson), known=True)
        return known[lesson][function, number]

    return verdict


@pytest.mark.parametrize(("lesson", "function", "number"), rarely(ROWS, USUAL), ids=str)
def test_a_wrong_line_is_rejected_and_named(lesson, function, number, verdict_on):
    """It costs points, and the mistakes that are named are those that it makes, which is mostly one."""
    expected, changes = WRONG[lesson, function][number]

    result = verdict_on(lesson, function, number)

    assert not result.passed, changes
    assert [mistake.id for mistake in result.mistakes if mistake.function == function] == expected.split(", "), changes
