"""Make the results.json of a Gradescope autograder from one submission.

The format is Gradescope's "Autograder Specifications" (gradescope-autograders.readthedocs.io/en/latest/specs): `score`
overrides the total of the tests; each test has `score` and `max_score`, `status`, `name`, `number`, `output` and
`output_format`; `visibility` says when learners see it. Without a score, neither above nor on a test, Gradescope takes
a run for a failed one: it gives no points and no zero. A failure of the grader must look like that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grader.model import LessonResult
from grader.record import Record
from grader.reports.formats.to_markdown import lesson_lines, score_of_10
from grader.reports.record_view import CheckLine, check_lines, lessons_of, notes_of, number_text, score_out_of
from grader.terminal.text import clean

FAILED = (
    "The grader itself failed on this submission. That is not your fault. There is no score yet, and no zero: your "
    "instructor can run the autograder again."
)


def to_gradescope(
    head: Mapping[str, Any],
    record: Record,
    *,
    out_of: float = 100.0,
    missing_as_zero: bool = False,
    visibility: str = "visible",
) -> dict[str, Any]:
    """Return the object of results.json. The total is score x out_of / 10; the tests show the points of each check.

    A lesson that was not handed in does not count or, with `missing_as_zero`, has a score of 0. If the grader failed
    there is no score, neither above nor on a test. `visibility` is that of all tests; redact the record if learners
    may see them.
    """
    total = None if record.grader_failed else _total(record, out_of, missing_as_zero)
    tests: list[dict[str, Any]] = []
    for index, (_, title, lesson) in enumerate(lessons_of(head, record), 1):
        tests.append(_lesson_test(title, lesson, str(index)))
        if lesson.state != "would-not-import":
            lines = enumerate(check_lines(lesson.checks), 1)
            tests += [_check_test(title, line, f"{index}.{number}", scored=total is not None) for number, line in lines]
    result = _result(_summary(record, total, out_of), visibility, tests) | {"extra_data": _extra(head, record)}
    if total is not None:
        result = {"score": total, **result}
    if record.duration_s is not None:
        result["execution_time"] = round(record.duration_s)
    return result


def make_failure() -> dict[str, Any]:
    """Return the object for a run that did not give a record: the grader failed, there is no score."""
    return _result(FAILED, "visible", [_test("1", "The grader itself failed", FAILED)])


def _result(output: str, visibility: str, tests: list[dict[str, Any]]) -> dict[str, Any]:
    shown = {"output": output, "output_format": "text", "visibility": visibility}
    return {**shown, "stdout_visibility": "hidden", "tests": tests}


def _test(number: str, name: str, output: str, output_format: str = "text") -> dict[str, Any]:
    heading = {"number": number, "name": name, "name_format": "text"}
    return {**heading, "output": output, "output_format": output_format}


def _total(record: Record, out_of: float, missing_as_zero: bool) -> float | None:
    scores = [lesson.score for lesson in record.lessons.values()]
    there = [score for score in scores if score is not None]
    if missing_as_zero and len(there) < len(scores):  # unreadable work too: it can be handed in again at once
        return score_out_of(sum(there) / len(scores), out_of)
    return None if record.score is None else score_out_of(record.score, out_of)


def _summary(record: Record, total: float | None, out_of: float) -> str:
    """Write what stands above all tests, as plain text."""
    said = list(notes_of(record))
    if record.grader_failed:
        said.append(FAILED)
    elif total is None:
        said.append("There is no score: nothing was found that could be checked.")
    else:
        said.append(
            f"Score: {number_text(total)} of {number_text(out_of)}. It comes from the lessons' scores; the points of "
            "the checks below show where they come from."
        )
        missing = record.states.get("missing", 0)
        if missing:
            said.append(f"Lessons that were not handed in: {missing}.")
    return "\n".join(clean(text) for text in said if text)


def _lesson_test(title: str, lesson: LessonResult, number: str) -> dict[str, Any]:
    """Show a lesson's assessment as a test without points."""
    output = "\n".join(lesson_lines(replace(lesson, checks=()), "####")) or "Nothing to add."
    test = _test(number, f"{clean(title)}: {score_of_10(lesson.score)}", output, "md")
    if lesson.state != "grader-error":
        test["status"] = "passed" if lesson.passed else "failed"
    return test


def _check_test(title: str, line: CheckLine, number: str, *, scored: bool) -> dict[str, Any]:
    inputs = f" ({line.inputs_text})" if line.inputs_text else ""
    test = _test(number, f"{clean(title)}: {clean(line.says)}{inputs}", clean(_check_output(line)))
    if line.outcome == "grader-error":
        return test
    if scored:
        test |= {"score": round(line.earned, 2), "max_score": round(line.points, 2)}
    return {**test, "status": "passed" if line.passed else "failed"}


def _check_output(line: CheckLine) -> str:
    if line.passed:
        return "passed"
    printed = f"\nPrinted:\n{line.output}" if line.output.strip() else ""
    return f"{line.outcome_text}: {line.message}".rstrip(": ") + printed


def _extra(head: Mapping[str, Any], record: Record) -> dict[str, Any]:
    """Return what a script over Gradescope's export may want to know."""
    course = head.get("course") or {}
    return {
        "course": course.get("id"),
        "version": course.get("version"),
        "engine": head.get("engine"),
        "complete": record.complete,
        "lessons": {name: {"score": one.score, "state": one.state} for name, one in record.lessons.items()},
    }
