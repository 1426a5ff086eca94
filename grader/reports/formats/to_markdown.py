"""Write one learner's feedback as Markdown, good to read as it is and rendered.

What came from a submission stays text: it stands in a code block or a code span, or its signs are escaped. It makes no
heading, link, image, HTML or list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from grader.model import Counterexample, LessonResult
from grader.record import Record
from grader.reports.record_view import (
    STATES,
    UNREADABLE,
    CheckLine,
    absent_text,
    check_lines,
    lessons_of,
    notes_of,
    number_text,
)
from grader.terminal.text import clean, plural, score_text

SIGNS = {"passed": "✓", "skipped": "·", "grader-error": "!"}
MAX_LINES = 40  # of one message or of what was printed

_SPAN = re.compile(r"`[^`\n]+`")
_SPECIAL = re.compile(r"[\\`*\[\]<&|~#$@]|(?<!\w)_|_(?!\w)")  # within a word, "_" is a letter
_ADDRESS = re.compile(r"(?i)(:)(?=//)|(?<=www)(\.)")
_LINE_START = re.compile(r"^(\s*)([-+=>]|\d+(?=[.)]))")


def feedback_markdown(head: Mapping[str, Any], record: Record) -> str:
    """Write the whole page; it shows all that is in `record`, redacted or not, of a right lesson the notes alone."""
    lines = [f"# Feedback for {prose(record.label)}", "", *_overview(head, record)]
    for _name, title, lesson in lessons_of(head, record) if not record.is_unreadable else ():
        found = _bullets(lesson.notes, ">") if lesson.passed else lesson_lines(lesson)
        lines += ["", f"## {prose(title)}: {score_of_10(lesson.score)}", "", *found] if found else []
    return "\n".join(lines).rstrip() + "\n"


def lesson_lines(lesson: LessonResult, level: str = "###") -> list[str]:
    """Write one lesson: its state, what is good, what is not, what to do next, and every check."""
    suggestions = enumerate(lesson.suggestions, 1)
    next_steps = [f"{number}. {prose(each.says)} {code(each.command)}" for number, each in suggestions]
    blocks = [
        _bullets([STATES.get(lesson.state, lesson.state), *lesson.notes], ">"),
        _section(level, "What works", _bullets(lesson.strengths)),
        _section(level, "What to work on", _bullets(lesson.weaknesses)),
        _section(level, "What to do next", next_steps),
        _section(level, "Checks", list(_checks(lesson))),
        _section(level, "Smallest failing inputs", list(_counterexamples(lesson.counterexamples))),
        _section(level, "What it printed", block(lesson.output) if lesson.output.strip() else []),
    ]
    return [line for found in blocks if found for line in (*found, "")][:-1]


@lru_cache(maxsize=1024)  # a class has the same checks again and again
def prose(text: str) -> str:
    """Write a sentence as one line of Markdown: its `code` stays code, every other sign is escaped."""
    text = " ".join(clean(text).split())
    parts, end = [], 0
    for span in _SPAN.finditer(text):
        parts += [_escape(text[end : span.start()]), span[0]]
        end = span.end()
    return _LINE_START.sub(r"\1\\\2", "".join([*parts, _escape(text[end:])]))


def code(text: str) -> str:
    """Write any text as a code span."""
    text = " ".join(clean(text).split()) or " "
    fence = "`" * (_longest_run(text) + 1)
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def block(text: str, indent: str = "") -> list[str]:
    """Write a text as a fenced block, line by line, cut after MAX_LINES."""
    lines = clean(text).rstrip().split("\n")
    more = [f"... {plural(len(lines) - MAX_LINES, 'more line')}"] if len(lines) > MAX_LINES else []
    fence = "`" * max(3, _longest_run("\n".join(lines)) + 1)
    return [f"{indent}{line}".rstrip() for line in (f"{fence}text", *lines[:MAX_LINES], *more, fence)]


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _escape(text: str) -> str:
    return _ADDRESS.sub(r"\\\g<0>", _SPECIAL.sub(r"\\\g<0>", text))


def _overview(head: Mapping[str, Any], record: Record) -> Iterator[str]:
    lessons = list(lessons_of(head, record))
    scored = sum(lesson.score is not None for _, _, lesson in lessons)
    of_these = "" if scored == len(lessons) else f", over {scored} of {plural(len(lessons), 'lesson')}"
    yield f"**Score: {score_of_10(record.score)}**{of_these if scored else ''}"
    yield ""
    yield "| lesson | score | checks passed |"
    yield "| --- | --- | --- |"
    for _, title, lesson in lessons:
        yield f"| {prose(title)} | {score_of_10(lesson.score)} | {_passed_text(record, lesson)} |"
    said = [*notes_of(record), *([UNREADABLE] if record.is_unreadable else [])]
    if record.late:
        said.insert(0, "Handed in late.")
    if any(said):
        yield ""
        yield from _bullets(said, ">")


def score_of_10(score: float | None) -> str:
    """Write a score as `7.5 of 10`."""
    return "no score" if score is None else f"{score_text(score)} of 10"


def _passed_text(record: Record, lesson: LessonResult) -> str:
    lines = check_lines(lesson.checks)
    if lesson.state == "missing":
        return absent_text(record)
    return f"{sum(line.passed for line in lines)} of {len(lines)}" if lines else lesson.state.replace("-", " ")


def _section(level: str, title: str, lines: list[str]) -> list[str]:
    return [f"{level} {title}", "", *lines] if lines else []


def _bullets(texts: Sequence[str], sign: str = "-") -> list[str]:
    """Write each text as an item; its further lines, which are a traceback's, as a block below."""
    lines: list[str] = []
    for text in filter(None, texts):
        first, _, rest = text.strip().partition("\n")
        if sign == ">":
            lines += [*([">"] if lines else []), f"> {prose(text)}"]
            continue
        lines += [f"{sign} {prose(first)}", *(["", *block(rest, "  ")] if rest.strip() else [])]
    return lines


def _checks(lesson: LessonResult) -> Iterator[str]:
    if lesson.state == "would-not-import":
        return  # every check says the same: it was not run
    lines = check_lines(lesson.checks)
    functions = list(dict.fromkeys(line.function for line in lines))
    function = ""
    told: set[tuple[str, str, str]] = set()  # of checks that were not run
    for line in sorted(lines, key=lambda line: functions.index(line.function)):
        if len(functions) > 1 and line.function != function:
            yield from ([""] if function else [])
            yield f"{code(line.function)}:"
            yield ""
            function = line.function
        if line.outcome == "skipped" and line.message:
            if _key(line) not in told:
                told.add(_key(line))
                yield from _skipped_line([each for each in lines if _key(each) == _key(line)])
            continue
        yield from _check(line)


def _key(line: CheckLine) -> tuple[str, str, str]:
    return line.function, line.outcome, line.message


def _skipped_line(lines: Sequence[CheckLine]) -> Iterator[str]:
    """Write checks that were not run for the same reason as one line."""
    if len(lines) == 1:
        yield from _check(lines[0])
        return
    points = f"0/{number_text(sum(line.points for line in lines))} points"
    yield f"- {SIGNS['skipped']} **skipped** {len(lines)} checks ({points}): {prose(lines[0].message)}"


def _check(line: CheckLine) -> Iterator[str]:
    sign = SIGNS.get(line.outcome, "✗")
    word = "" if line.passed else f"**{line.outcome_text}** "
    inputs = f", {line.inputs_text}" if line.inputs_text else ""
    earned = f"{number_text(line.earned)}/{number_text(line.points)} points"
    points = "not counted" if line.outcome == "grader-error" else earned
    message = line.message.strip()
    in_line = f": {prose(message)}" if message and "\n" not in message else ""
    yield f"- {sign} {word}{prose(line.says)} ({points}{inputs}){in_line}"
    if message and not in_line:
        yield from ("", *block(message, "  "), "")


def _counterexamples(examples: Sequence[Counterexample]) -> Iterator[str]:
    for example in examples:
        yield from block(f"{example.call}\nyours     {example.yours}\nexpected  {example.expected}")
