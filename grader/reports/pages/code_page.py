"""Make pages for the instructor that show code: of one hand-in beside its verdict, and of a group that is alike."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.model import LessonResult
from grader.record import Record
from grader.reports import html_document
from grader.reports.formats.picture_html import NO_PICTURES, packed_to_html
from grader.reports.highlight import highlight_lines
from grader.reports.record_view import course_title, lessons_of, notes_of

MAX_SIDE_BY_SIDE = 12  # hand-ins of a group
MAX_SAID_OF_LINE = 3
MAX_EMPTY_LINES = 9  # in a row, that are shown
_ON_LINE = re.compile(r"[Oo]n line (\d{1,5})|\bline (\d{1,5}) of ")


@dataclass(frozen=True)
class HandInCode:
    """One of a group: whose it is, the link to its page, and the lines of its source that are alike."""

    whose: str
    link: str
    source: str
    lines: Collection[int]


def code_page(
    head: Mapping[str, Any], record: Record, sources: Mapping[str, str], pictures: Mapping[str, str] = NO_PICTURES
) -> str:
    """Return the page of one hand-in: each lesson's source, with the lines marked that the feedback speaks of.

    `pictures` are those of a lesson as `pack_pictures` has made them.
    """
    lessons = [
        {**vars(lesson), "name": name, "title": title, "says": lesson.weaknesses}
        | {"pictures": packed_to_html(pictures.get(name, ""))}
        | _code(sources[name], _lines_spoken_of(lesson))
        for name, title, lesson in lessons_of(head, record)
        if name in sources
    ]
    context = {"course": course_title(head) or "Course", "whose": record.label, "score": record.score}
    feedback = html_document.file_link("../feedback", record.feedback)
    notes = list(notes_of(record))
    return html_document.render("code_page", {**context, "lessons": lessons, "feedback": feedback, "notes": notes})


def alike_page(head: Mapping[str, Any], lesson: str, hand_ins: Sequence[HandInCode]) -> str:
    """Return the page of a group, side by side."""
    shown = [
        {"whose": one.whose, "link": f"../{one.link}", **_code(one.source, dict.fromkeys(one.lines, ()))}
        for one in hand_ins[:MAX_SIDE_BY_SIDE]
        if one.source
    ]
    title = (head.get("titles") or {}).get(lesson) or lesson
    context = {"course": course_title(head) or "Course", "title": title, "hand_ins": shown}
    return html_document.render("alike_page", {**context, "more": max(0, len(hand_ins) - MAX_SIDE_BY_SIDE)})


def _code(source: str, spoken_of: Mapping[int, Sequence[str]]) -> dict[str, Any]:
    """Return the lines as list items, those marked that are spoken of, and how many more there are.

    Of many empty lines in a row none is shown: a notebook's cells begin at 100, 200 ...
    """
    from markupsafe import Markup

    lines, more = highlight_lines(source)
    gaps = _gaps(lines) - {number for number, texts in spoken_of.items() if texts}
    items = []
    for number, line in enumerate(lines, 1):
        marked = ' class="marked"' if number in spoken_of else ""
        said = spoken_of.get(number, ())[:MAX_SAID_OF_LINE]
        says = "".join(f"<small>{html_document.prose(text)}</small>" for text in said)
        items.append('<li class="gap"></li>' if number in gaps else f"<li{marked}><code>{line}</code>{says}</li>")
    return {"code": Markup("\n".join(items)), "more": more}


def _gaps(lines: Sequence[str]) -> set[int]:
    """Return the numbers of the lines that stand in more than MAX_EMPTY_LINES empty ones."""
    found: set[int] = set()
    empty: list[int] = []
    for number, line in enumerate([*lines, "the end"], 1):
        if not line.strip():
            empty.append(number)
            continue
        found.update(empty if len(empty) > MAX_EMPTY_LINES else ())
        empty = []
    return found


def _lines_spoken_of(lesson: LessonResult) -> dict[int, list[str]]:
    """Return what is said of lines of the file, by their numbers."""
    found: dict[int, list[str]] = {line.line: [line.says] for line in lesson.lines}
    at_file = re.compile(rf"{re.escape(lesson.file.rpartition('/')[2])}:(\d{{1,5}})") if lesson.file else None
    for text in _texts(lesson):
        first, _, _ = text.strip().partition("\n")
        numbers = {int(one or two) for one, two in _ON_LINE.findall(text)}
        numbers |= {int(number) for number in at_file.findall(text)} if at_file else set()
        for number in numbers:
            said = found.setdefault(number, [])
            if first not in said:
                said.append(first)
    return found


def _texts(lesson: LessonResult) -> Iterator[str]:
    yield from (mistake.says for mistake in lesson.mistakes)
    yield from lesson.weaknesses
    yield from (check.message for check in lesson.checks if check.outcome not in ("passed", "skipped"))
