"""Make `report.html`: a whole class on one self-contained page, for its instructor.

Long lists are cut; the table of all learners is whole.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from grader.record import Record, count_statuses, tell_scored
from grader.reports import charts, html_document
from grader.reports.pages import class_findings, class_learners
from grader.reports.pages.class_alike import MAX_GROUPS, group_similar
from grader.reports.record_view import course_title
from grader.reports.statistics.class_tally import NO_CODE, ClassTally, Row
from grader.reports.statistics.item_analysis import FLAGS, MIN_TRIED, Item
from grader.terminal.text import plural, score_text

PLAIN_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i"})
MAX_LISTED = 60  # names in a list of those who are missing, or of files left out
MAX_CHANGES = 100
MAX_NAMED_OPEN = 8  # mistakes of a lesson before the rarer ones are folded
MAX_OPEN = 6  # checks in a list before it is folded

STATE_WORDS = {
    "missing": "missing",
    "would-not-import": "not loaded",
    "timed-out": "timed out",
    "out-of-memory": "memory",
    "crashed": "crashed",
    "grader-error": "not graded",
}
MARKS = {"nobody": "nobody passes", "everybody": "everybody passes", "negative": "negative", "low": "tells little"}
LISTS = (
    ("nobody", "Nobody passes"),
    ("negative", "Passed by those who do worse"),
    ("low", "Tell little about the rest"),
    ("everybody", "Everybody passes"),
)


@dataclass(frozen=True)
class CutList:
    """The first of a list, and how many more there are."""

    shown: Sequence[Any]
    more: int
    folded: bool = False

    @property
    def count(self) -> int:
        return len(self.shown) + self.more


def class_page(
    head: Mapping[str, Any], records: Iterable[Record], *, link: bool = True, code: Mapping[str, str] = NO_CODE
) -> Iterator[str]:
    """Return the page in pieces. `head` and `records` are what `results.json` holds; the records are read once.

    With `link`, learners are linked to `feedback/<feedback>.html` beside the page. `code` has links to pages of code,
    by the record's id, at the latest when the record is read.
    """
    tally = ClassTally(head["lessons"], link=link, code=code)
    for record in records:
        tally.add(record)
    tally.mark_namesakes()
    context = _head(head, tally) | _scores(head, tally) | _mistakes(head, tally) | _checks(head, tally)
    context |= _people(head, tally) | _alike(head, tally) | _overrides(tally) | _changes(tally) | _table(tally)
    return html_document.stream("class_page", context | {"contents": _contents(context)})


def cut(items: Sequence[Any], most: int) -> CutList:
    """Cut a list after its first `most` items."""
    return CutList(items[:most], max(0, len(items) - most))


# --- the head ---------------------------------------------------------------------------------------------------------


def _head(head: Mapping[str, Any], tally: ClassTally) -> dict[str, Any]:
    return {
        "course": course_title(head) or "Course",
        "engine": head.get("engine", ""),
        "sentence": _sentence(head, tally),
        "facts": _facts(head),
        "isolation": ", ".join(map(str, head.get("isolation") or ())) or "not recorded",
        "whole": head.get("complete", True),
        "tiles": _tiles(head, tally),
    }


def _sentence(head: Mapping[str, Any], tally: ClassTally) -> str:
    """Sum up the class in one or two sentences."""
    scores = class_findings.summary_of(tally.scores)
    counts = count_statuses(row.status for row in tally.rows)
    said = f"{plural(len(tally.rows), 'submission')}{f': {counts}' if counts else ''}."
    if scores.count:
        some = tell_scored(scores.count, len(tally.rows))
        said += f" Mean score {score_text(scores.mean)}, median {score_text(scores.median)}{some}."
    if missing := len(head.get("missing") or ()):
        said += f" {plural(missing, 'learner')} handed nothing in."
    if waiting := len(head.get("waiting") or ()):
        said += f" {plural(waiting, 'result')} of an earlier hand-in: go on with --resume."
    return said


def _facts(head: Mapping[str, Any]) -> list[str]:
    course = head.get("course") or {}
    facts = [f"course {course.get('version', '')}", f"{plural(len(head['lessons']), 'lesson')}"]
    facts += [f"seed {head.get('seed')}", str(head.get("device", ""))]
    return [fact for fact in [*facts, _when(head.get("finished") or head.get("started"))] if fact]


def _when(time: Any) -> str:
    """Write a time of the head as `2026-11-20 10:00 UTC`."""
    try:
        return f"{datetime.fromisoformat(time):%Y-%m-%d %H:%M} UTC"
    except (TypeError, ValueError):
        return str(time or "")


def _tiles(head: Mapping[str, Any], tally: ClassTally) -> list[dict[str, str]]:
    summary = class_findings.summary_of(tally.scores)
    missing = len(head.get("missing") or ())
    scored = sum(row.status == "scored" for row in tally.rows)
    flawless = sum(score == 10.0 for score in tally.scores)
    roster = f"of {len(tally.rows) + missing}" if missing else ""
    tiles = [
        ("Handed in", len(tally.rows), roster),
        ("Scored", scored, ""),
        ("Mean", score_text(summary.mean), "of 10"),
        ("Median", score_text(summary.median), "of 10"),
        ("Without a fault", flawless, ""),
        *([("Nothing handed in", missing, "")] if missing else []),  # not known without a roster
    ]
    return [{"what": what, "number": str(number), "beside": beside} for what, number, beside in tiles]


def _contents(context: Mapping[str, Any]) -> list[tuple[str, str]]:
    """List the sections that the page has."""
    sections = [("scores", "Scores", True), ("skills", "Lessons and skills", context["skills"])]
    sections += [("mistakes", "Mistakes", True), ("help", "Who may need a hand", True)]
    sections += [("checks", "Checks", context["items"]), ("alike", "Alike", context["alike"])]
    sections += [("overrides", "By hand", context["overrides"].count)]
    sections += [("changes", "Graded again", context["regraded"]), ("learners", "All learners", True)]
    return [(anchor, words) for anchor, words, there in sections if there]


# --- lessons ----------------------------------------------------------------------------------------------------------


def _title(head: Mapping[str, Any], lesson: str) -> str:
    return str((head.get("titles") or {}).get(lesson) or lesson)


def _scores(head: Mapping[str, Any], tally: ClassTally) -> dict[str, Any]:
    skills = class_findings.skills_of(tally)
    return {
        "summary": class_findings.summary_of(tally.scores),
        "histogram": charts.histogram(tally.scores, 440, 190, 13),
        "skills": skills,
        "legend": charts.heat_legend(),
        "lessons": [_lesson(head, tally, name, skills) for name in tally.lessons],
    }


def _lesson(head: Mapping[str, Any], tally: ClassTally, name: str, skills: Sequence[str]) -> dict[str, Any]:
    lesson = tally.lessons[name]
    earned = class_findings.earned_by_skill(lesson)
    mean = class_findings.summary_of(lesson.scores).mean
    shares = [*(earned.get(skill) for skill in skills), charts.score_share(mean)]
    return {
        "name": name,
        "title": _title(head, name),
        "summary": class_findings.summary_of(lesson.scores),
        "histogram": charts.histogram(lesson.scores, 220, 92, 10),
        "cells": [{"share": share, "heat": charts.heat(share)} for share in shares],
    }


def _mistakes(head: Mapping[str, Any], tally: ClassTally) -> dict[str, Any]:
    found = class_findings.mistakes_of(tally)
    common = class_findings.most_common(found)
    return {
        "mistakes": [
            {"name": group.lesson, "title": _title(head, group.lesson), "named": group.named, "other": group.other}
            for group in found
        ],
        "most": MAX_NAMED_OPEN,
        "common": [(_title(head, lesson), mistake) for lesson, mistake in common],
    }


def _checks(head: Mapping[str, Any], tally: ClassTally) -> dict[str, Any]:
    items = class_findings.items_of(tally)
    few = all(item.tried < MIN_TRIED for group in items.values() for item in group)
    titled = [(_title(head, lesson), group) for lesson, group in items.items()]
    lists = [(flag, words, _flag_list(titled, flag)) for flag, words in LISTS]
    return {
        "items": titled,
        "few": few,
        "least": MIN_TRIED,
        "lists": [entry for entry in lists if entry[2].count or entry[0] in ("nobody", "everybody")],
        "flags": FLAGS,
        "marks": MARKS,
    }


def _flag_list(titled: Sequence[tuple[str, Sequence[Item]]], flag: str) -> CutList:
    found = [(title, item) for title, group in titled for item in group if item.flag == flag]
    return CutList(found, 0, folded=len(found) > MAX_OPEN)


# --- learners ---------------------------------------------------------------------------------------------------------


def _people(head: Mapping[str, Any], tally: ClassTally) -> dict[str, Any]:
    hands, more_hands = class_learners.needing_help(tally)
    failed = cut(class_learners.find_failures(tally), MAX_LISTED)
    missing = [{"id": str(one.get("id", "")), "name": str(one.get("name") or "")} for one in head.get("missing") or ()]
    odd = [("Handed in, but not in the roster", head.get("unlisted"))]
    odd += [("Older than what was graded, whose result stays until --older", head.get("older"))]
    odd += [("Left out, of no known kind", head.get("ignored"))]
    return {
        "hands": hands,
        "more_hands": more_hands,
        "failed": failed.shown,
        "more_failed": failed.more,
        "missing": cut(sorted(missing, key=lambda one: (_fold(one["name"]), one["id"])), MAX_LISTED),
        "odd": [(words, cut([str(name) for name in names], MAX_LISTED)) for words, names in odd if names],
    }


def _alike(head: Mapping[str, Any], tally: ClassTally) -> dict[str, Any]:
    rows = {row.key: row for row in tally.rows} if head.get("similar") else {}
    groups = group_similar(head, rows)
    shown = [
        {
            "who": [rows[name] for name in group.lines],
            "lesson": _title(head, group.lesson),
            "link": f"alike/{number}.html" if any(rows[name].code for name in group.lines) else "",
            **group.figures(),
        }
        for number, group in enumerate(groups[:MAX_GROUPS], 1)
    ]
    return {"alike": shown, "more_alike": len(groups) - len(shown)}


def _changes(tally: ClassTally) -> dict[str, Any]:
    found = class_learners.find_changes(tally)
    shown = cut(found, MAX_CHANGES)
    regraded = sum(row.before is not None for row in tally.rows)
    return {"regraded": regraded, "changes": shown.shown, "change_count": len(found), "more_changes": shown.more}


def _overrides(tally: ClassTally) -> dict[str, Any]:
    given = [(row, list(row.by_hand.values())) for row in tally.rows if row.by_hand]
    return {"overrides": cut(given, MAX_CHANGES)}


def _table(tally: ClassTally) -> dict[str, Any]:
    rows = sorted(tally.rows, key=lambda row: (_fold(row.label), row.id))
    ids = any((row.name and row.id != row.name) or row.attempt > 1 or row.late for row in rows)
    return {"rows": [(row, _cells(row, list(tally.lessons))) for row in rows], "ids": ids}


def _fold(name: str) -> str:
    """Return what a name is sorted by: Ångström and Łukasiewicz stand among A and L."""
    letters = unicodedata.normalize("NFKD", name.casefold().translate(PLAIN_LETTERS))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _cells(row: Row, lessons: Sequence[str]) -> list[tuple[str, str]]:
    """Return the colour and the text of each lesson's cell."""
    if row.is_unreadable:
        return [("m", "not read")] * len(row.states)
    of_lessons = zip(lessons, row.states, row.scores, strict=True)
    return [_cell(state, score, by_hand=name in row.by_hand) for name, state, score in of_lessons]


def _cell(state: str, score: float | None, *, by_hand: bool) -> tuple[str, str]:
    words = "by hand" if by_hand else STATE_WORDS.get(state, "")
    if score is None:
        return "m", words or "–"
    return charts.heat(charts.score_share(score)), f"{score:.1f} {words}".rstrip()
