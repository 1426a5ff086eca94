"""Make a verdict an event for the pages: what is shown, and which lines are marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from grader.model import Lesson, LessonResult
from grader.reports.html_document import render
from grader.reports.pages.feedback_page import lesson_view
from grader.web.page import TEMPLATES


def _raised(verdict: LessonResult) -> Iterator[dict[str, Any]]:
    """Yield the lines of the learner's file that errors name."""
    for text in verdict.weaknesses:
        for line in re.findall(rf"{re.escape(verdict.file)}:(\d+)", text) if verdict.file else ():
            yield {"line": int(line), "says": text.partition("\n")[0]}


def _address(command: str) -> str:
    """Return where in the pages one does what a command does; "" where only a terminal can."""
    words = command.split()
    if len(words) != 3 or words[0] != "learn":
        return ""
    found = {"read": "/lesson/{0}", "hint": "/lesson/{0}#hints", "quiz": "/lesson/{0}#questions"}.get(words[1], "")
    return found.format(words[2])


def verdict_event(
    lesson: Lesson, verdict: LessonResult | None, before: float | None, trouble: str, *, has_pages: bool = True
) -> dict[str, Any]:
    """Return the event; `trouble` is why the last save has no verdict. Without pages what is next is no link."""
    if trouble or verdict is None:
        return {
            "state": "trouble",
            "html": render("live_verdict", {"trouble": trouble, "lesson": None}, TEMPLATES),
        }
    view = lesson_view(lesson.name, lesson.title, verdict, before)
    own = {f"learn {command} {lesson.name}" for command in ("check", "read")}  # a save and this page do that
    told = [each for each in verdict.suggestions if each.command not in own]
    view["suggestions"] = [
        {"says": each.says, "command": each.command, "at": _address(each.command) if has_pages else ""} for each in told
    ]
    html = render("live_verdict", {"trouble": "", "lesson": view}, TEMPLATES)
    return {
        "state": "passed" if verdict.passed else "failed",
        "html": html,
        "lines": [*_raised(verdict), *({"line": each.line, "says": each.says} for each in verdict.lines)],
        "mistakes": [each.id for each in verdict.mistakes],
    }
