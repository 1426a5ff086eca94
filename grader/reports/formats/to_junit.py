"""Write a class as JUnit XML: one test suite for each lesson of each submission.

Wrong answers and forbidden calls are failures; what raised, hung or died is an error, and so is a failure of the
grader (type "grader-error"). What was not run or not handed in is skipped. The elements and their order are those that
both Jenkins' schema (junit-10.xsd) and Ant's (the older one) allow.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from grader.model import LessonResult
from grader.record import Record
from grader.reports.record_view import STATES, course_title, lessons_of
from grader.terminal.text import clean

FAILURES = ("failed", "forbidden")
MAX_OUTPUT = 10_000  # characters of what one lesson printed

# What XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_lines(head: Mapping[str, Any], records: Iterable[Record]) -> Iterator[str]:
    """Iterate over the lines of the file, each with its end; `records` is read once."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites name={_attribute(course_title(head) or 'course')}>\n"
    number = 0
    for record in records:
        for name, _, lesson in lessons_of(head, record):
            yield from _suite(head, record, name, lesson, number)
            number += 1
    yield "</testsuites>\n"


def _suite(head: Mapping[str, Any], record: Record, name: str, lesson: LessonResult, number: int) -> Iterator[str]:
    suite = f"{record.id}.{name}"
    cases = _cases(lesson)
    kinds = Counter(kind for _, kind, _, _ in cases)
    counts = {"tests": len(cases), "failures": kinds["failure"], "errors": kinds["error"], "skipped": kinds["skipped"]}
    attributes = {
        "name": suite,
        **counts,
        "time": f"{lesson.duration_s or 0:.3f}",
        "timestamp": str(head.get("started") or "1970-01-01T00:00:00")[:19],
        "hostname": "localhost",
        "package": record.id,
        "id": number,
    }
    yield f"  <testsuite {_attributes(attributes)}>\n"
    yield from _properties(record, lesson)
    for case, kind, outcome, message in cases:
        yield from _case(suite, case, kind, outcome, message)
    yield f"    <system-out>{_text(lesson.output[:MAX_OUTPUT])}</system-out>\n    <system-err/>\n  </testsuite>\n"


def _properties(record: Record, lesson: LessonResult) -> Iterator[str]:
    values = {"learner": record.learner, "state": lesson.state, "score": lesson.score}
    mistakes = ",".join(mistake.id for mistake in lesson.mistakes)
    yield "    <properties>\n"
    for name, value in {**values, "mistakes": mistakes}.items():
        yield f"      <property {_attributes({'name': name, 'value': '' if value is None else value})}/>\n"
    yield "    </properties>\n"


def _cases(lesson: LessonResult) -> list[tuple[str, str, str, str]]:
    """List a lesson's test cases: name, kind of result ("" for a pass), outcome, message."""
    cases = []
    state = lesson.state
    if not lesson.checks or state == "would-not-import":
        kind = "skipped" if state == "missing" else "" if state == "graded" else "error"
        message = "\n".join([STATES.get(state, state), *(mistake.says for mistake in lesson.mistakes)])
        cases.append(("the file is handed in and can be loaded", kind, state, message))
    for check in lesson.checks:
        name = f"{check.id.partition('.')[2] or check.id}: {check.says}"
        cases.append((name, _kind(check.outcome), check.outcome, check.message))
    return cases


def _kind(outcome: str) -> str:
    if outcome in ("passed", "skipped"):
        return "" if outcome == "passed" else "skipped"
    return "failure" if outcome in FAILURES else "error"


def _case(suite: str, name: str, kind: str, outcome: str, message: str) -> Iterator[str]:
    head = f"    <testcase {_attributes({'classname': suite, 'name': name, 'time': '0'})}"
    if not kind:
        yield f"{head}/>\n"
        return
    first = message.strip().split("\n", 1)[0] or outcome
    if kind == "skipped":
        yield f"{head}><skipped message={_attribute(first)}/></testcase>\n"
        return
    attributes = _attributes({"message": first, "type": outcome})
    yield f"{head}><{kind} {attributes}>{_text(message)}</{kind}></testcase>\n"


def _attributes(values: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={_attribute(str(value))}" for name, value in values.items())


@lru_cache(maxsize=1024)  # a class has the same checks again and again
def _attribute(text: str) -> str:
    return quoteattr(_legal(" ".join(clean(text).split())))


def _text(text: str) -> str:
    return escape(_legal(clean(text)))


def _legal(text: str) -> str:
    return _FORBIDDEN.sub("?", text)
