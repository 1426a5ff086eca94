"""Make a learner's page: what to mend first, lesson by lesson; it prints well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.model import LessonResult
from grader.record import Record
from grader.reports import charts, html_document
from grader.reports.formats.picture_html import NO_PICTURES, packed_to_html
from grader.reports.record_view import (
    STATES,
    UNREADABLE,
    CheckLine,
    absent_text,
    course_title,
    lessons_of,
    listed_lines,
    notes_of,
    prints_title,
)
from grader.terminal.text import plural

MAX_MESSAGE_LINES = 12  # of one check
MAX_FULL_MESSAGES = 2  # of a lesson; the other checks show their first line
MAX_PRINTED_LINES = 30
MAX_COLUMNS = 300  # of a message or of what was printed
SIGNS = {"passed": "passed", "skipped": "skipped", "grader-error": "skipped"}  # the class of a check's sign


@dataclass(frozen=True)
class CutText:
    """The first lines of a long text, and how many more there are."""

    shown: str
    more: int

    @property
    def first(self) -> str:
        return self.shown.partition("\n")[0]

    @property
    def lines(self) -> int:
        return self.shown.count("\n") + 1 + self.more


def feedback_page(head: Mapping[str, Any], record: Record, pictures: Mapping[str, str] = NO_PICTURES) -> str:
    """Return the page of one submission. It shows all that is in `record`: redact it first if learners may see it.

    `pictures` are those of a lesson as `pack_pictures` has made them: none of a redacted record.
    """
    previous = record.previous
    scores = previous.lessons if previous else {}
    lessons = [lesson_view(name, title, lesson, scores.get(name)) for name, title, lesson in lessons_of(head, record)]
    return html_document.render(
        "feedback_page",
        {
            "course": course_title(head) or "Course",
            "facts": _facts(head, record),
            "whose": record.label,
            "score": record.score,
            "before": previous.score if previous else None,
            "regraded": previous is not None and previous.score != record.score,
            "sentence": UNREADABLE if record.is_unreadable else _sentence(lessons),
            "absent": absent_text(record),
            "notes": list(notes_of(record)),
            "lessons": lessons,
            "in_full": MAX_FULL_MESSAGES,
            "open": [
                lesson | {"pictures": packed_to_html(pictures.get(lesson["name"], ""))}
                for lesson in lessons
                if not lesson["passed"] and lesson["state"] != "missing"
            ],
        },
    )


def _facts(head: Mapping[str, Any], record: Record) -> list[str]:
    facts = [f"course {(head.get('course') or {}).get('version', '')}", f"file {record.source}"]
    if record.attempt > 1:
        facts.append(f"attempt {record.attempt}")
    if record.late:
        facts.append("handed in late")
    if not record.redacted:
        facts.append(f"seed {head.get('seed')}")
    return facts


def _sentence(lessons: Sequence[Mapping[str, Any]]) -> str:
    """Say in one sentence how far the work is."""
    passed = sum(lesson["passed"] for lesson in lessons)
    missing = sum(lesson["state"] == "missing" for lesson in lessons)
    if passed == len(lessons):
        return "Every check of every lesson passes. Well done!"
    passes = "passes" if 1 in (passed, len(lessons)) else "pass"
    said = f"{passed} of {plural(len(lessons), 'lesson')} {passes} every check"
    return f"{said}; {missing} {'was' if missing == 1 else 'were'} not handed in." if missing else f"{said}."


def lesson_view(name: str, title: str, lesson: LessonResult, before: float | None) -> dict[str, Any]:
    """Return what a page shows of one lesson; `before` is the score of the attempt before."""
    lines = listed_lines(lesson.checks)
    checks = [(_check(line), _is_wrong(line)) for line in lines]
    shown = [] if lesson.state == "would-not-import" else checks
    named = {mistake.says for mistake in lesson.mistakes}
    return vars(lesson) | {
        "name": name,
        "title": title,
        "says": STATES.get(lesson.state, ""),
        "share": charts.score_share(lesson.score),
        "before": before if before != lesson.score else None,
        "counts": f"{sum(line.passed for line in lines)} of {plural(len(lines), 'check')}" if lines else "",
        "mistakes": [{"id": each.id, "suggests": each.suggests, **_split(each.says)} for each in lesson.mistakes],
        "weaknesses": [_split(text) for text in lesson.weaknesses if text not in named],
        "output": _text(lesson.output, MAX_PRINTED_LINES),
        "prints_title": prints_title(lesson.output),
        "marks": [check for check, _ in shown],
        "wrong": [check for check, is_wrong in shown if is_wrong],
        "rest": [check for check, is_wrong in checks if not is_wrong],
        "skipped": sum(line.outcome == "skipped" for line in lines),
    }


def _is_wrong(line: CheckLine) -> bool:
    return line.outcome not in ("passed", "skipped")


def _check(line: CheckLine) -> dict[str, Any]:
    return {
        "sign": SIGNS.get(line.outcome, "failed"),
        "word": line.outcome_text,
        "says": line.says,
        "function": line.function,
        "inputs": line.inputs_text,
        "message": _text(line.message, MAX_MESSAGE_LINES),
    }


def _split(text: str) -> dict[str, Any]:
    """Split a sentence from the lines below it, which are an error's."""
    says, _, rest = text.strip().partition("\n")
    return {"says": says, "detail": _text(rest, MAX_MESSAGE_LINES)}


def _text(text: str, most: int) -> CutText:
    """Clean a learner's text, then cut it."""
    lines = html_document.harmless(text).rstrip().split("\n")
    return CutText("\n".join(line[:MAX_COLUMNS] for line in lines[:most]), max(0, len(lines) - most))
