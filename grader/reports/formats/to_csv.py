"""Write the gradebook: one line a learner, as spreadsheets and learning platforms read it.

    id, name, attempt, late, score, points, possible, complete, missing, <lesson>, <lesson> state, ..., problem

`points` and `possible` count over the lessons that were checked; `missing` says how many were not handed in. A cell is
empty where there is no score: a lesson that was not handed in, or one that the grader itself could not check. An empty
cell is no zero.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from grader.record import Record
from grader.reports.record_view import number_text

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def gradebook_lines(lessons: Sequence[str], records: Iterable[Record]) -> Iterator[str]:
    """Iterate over the lines of the gradebook, its head first, each with its end."""
    columns = [column for lesson in lessons for column in (lesson, f"{lesson} state")]
    whose = ["id", "name", "attempt", "late"]
    yield _line([*whose, "score", "points", "possible", "complete", "missing", *columns, "problem"])
    for record in records:
        yield _line(_cells(lessons, record))


def _cells(lessons: Sequence[str], record: Record) -> list[str]:
    earned = sum(lesson.earned for lesson in record.lessons.values())
    possible = sum(lesson.points for lesson in record.lessons.values())
    cells = [_text(record.id), _text(record.name), str(record.attempt), _yes(record.late), _score(record.score)]
    cells += [number_text(earned), number_text(possible), _yes(record.complete), str(record.states.get("missing", 0))]
    for name in lessons:
        cells += [_score(record.lessons[name].score), record.lessons[name].state]
    return [*cells, _text(record.problem)]


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


def _score(score: float | None) -> str:
    return "" if score is None else f"{score:.1f}"


def _text(text: str) -> str:
    """Quote text from outside that a spreadsheet would run as a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


def _line(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()
