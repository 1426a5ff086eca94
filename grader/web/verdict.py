"""Make a verdict an event for the pages: what is shown, and which lines are marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from grader.model import Lesson, LessonResult, Suggestion
from grader.reports.html_document import render
from grader.reports.pages.feedback_page import lesson_view
from grader.submission import START
from grader.web.page import TEMPLATES

PLACES = {"read": "", "check": "", "hint": "#hints", "quiz": "#questions"}  # in the page of the lesson

WRITE_BACK = "Ctrl-S in the editor writes back what stands there; `learn start` adds the empty exercise"


def _raised(verdict: LessonResult) -> Iterator[dict[str, Any]]:
    """Yield the lines of the learner's file that errors name."""
    for text in verdict.weaknesses:
        for line in re.findall(rf"{re.escape(verdict.file)}:(\d+)", text) if verdict.file else ():
            yield {"line": int(line), "says": text.partition("\n")[0]}


def _address(command: str) -> str:
    """Return where in the pages one does what a command does; "" where only a terminal can."""
    match command.split():
        case ["learn", verb]:
            return {"quiz": "/quiz", "review": "/quiz", "report": "/report", "progress": "/"}.get(verb, "")
        case ["learn", verb, name] if verb in PLACES:
            return f"/lesson/{name}{PLACES[verb]}"
    return ""


def _link(lesson: Lesson, told: Suggestion) -> dict[str, str]:
    """Return a suggestion as the page makes it, which has the text and the next hint, whichever that is by now."""
    says = told.says.replace(f" (`learn read {lesson.name}`)", "")
    if told.command == f"learn hint {lesson.name}":
        says = "Take the next hint."
    return {"says": says, "command": told.command, "at": _address(told.command)}


def verdict_event(
    lesson: Lesson, verdict: LessonResult | None, before: float | None, trouble: str, *, has_pages: bool = True
) -> dict[str, Any]:
    """Return the event; `trouble` is why the last save has no verdict. Without pages what is next is no link."""
    if trouble or verdict is None:
        trouble = trouble.replace(START, WRITE_BACK) if has_pages else trouble
        return {
            "state": "trouble",
            "html": render("live_verdict", {"trouble": trouble, "lesson": None}, TEMPLATES),
        }
    view = lesson_view(lesson.name, lesson.title, verdict, before)
    own = {f"learn {command} {lesson.name}" for command in ("check", "read")}  # a save and this page do that
    told = [each for each in verdict.suggestions if each.command not in own]
    view["suggestions"] = [_link(lesson, each) if has_pages else vars(each) | {"at": ""} for each in told]
    view["has_pages"] = has_pages
    html = render("live_verdict", {"trouble": "", "lesson": view}, TEMPLATES)
    return {
        "state": "passed" if verdict.passed else "failed",
        "html": html,
        "lines": [*_raised(verdict), *({"line": each.line, "says": each.says} for each in verdict.lines)],
        "mistakes": [each.id for each in verdict.mistakes],
    }
