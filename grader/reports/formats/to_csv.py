"""Write the gradebook: one line a learner, as spreadsheets and learning platforms read it.

    id, name, attempt, late, status, score, points, possible, complete, missing, <lesson>, <lesson> state, ...,
    by hand, problem

`status` is one of the record's STATUSES; `score` is that of the whole, and stands only where all of it was scored.
`points` and `possible` count over the lessons that were checked; `missing` says how many were not handed in; `by hand`
says which scores a human gave, and the program's. A cell is empty where there is no score: a lesson that was not handed
in, or one that the grader itself could not check. An empty cell is no zero. No cell holds a control character.
"""

from __future__ import annotations

import csv
import io
import itertools
import unicodedata
from collections.abc import Iterable, Sequence

from grader.record import Record
from grader.reports.record_view import number_text, override_texts
from grader.terminal.text import clean

WAITING = "Of an earlier hand-in: the present one is graded with --resume."
FORMULA = ("=", "+", "-", "@")
BLANK = "CZ"  # Unicode's categories of what is not seen: controls, separators


def gradebook_head(lessons: Sequence[str]) -> str:
    """Return the first line of the gradebook, with its end."""
    columns = [column for lesson in lessons for column in (lesson, f"{lesson} state")]
    whose = ["id", "name", "attempt", "late"]
    of_all = ["status", "score", "points", "possible", "complete", "missing"]
    return _line([*whose, *of_all, *columns, "by hand", "problem"])


def gradebook_line(lessons: Sequence[str], record: Record, *, waits: bool = False) -> str:
    """Return a learner's line, with its end; one that *waits* is to be graded again."""
    return _line(_cells(lessons, record, WAITING if waits else ""))


def _cells(lessons: Sequence[str], record: Record, note: str) -> list[str]:
    earned = sum(lesson.earned for lesson in record.lessons.values())
    possible = sum(lesson.points for lesson in record.lessons.values())
    cells = [record.id, record.name, str(record.attempt), _yes(record.late), record.status]
    cells.append(_score(record.score if record.status == "scored" else None))
    cells += [number_text(earned), number_text(possible), _yes(record.complete), str(record.states.get("missing", 0))]
    for name in lessons:
        lesson = record.lessons.get(name)
        cells += [_score(lesson.score), lesson.state] if lesson else ["", ""]
    return [*cells, " ".join(override_texts(record)), " ".join(filter(None, (note, record.problem)))]


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


def _score(score: float | None) -> str:
    return "" if score is None else f"{score:.1f}"


def _line(cells: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(_as_text(_printable(cell)) for cell in cells)
    return line.getvalue()


def _printable(cell: str) -> str:
    """Return a cell as one line that no terminal obeys, whoever prints the file."""
    # a carriage return becomes a blank first: the writer does not quote it, and `clean` would drop what stands before
    return clean(cell.replace("\r", " ")).replace("\n", " ")


def _as_text(cell: str) -> str:
    """Quote a cell that a spreadsheet would run as a formula: some skip blanks, and take full-width signs for signs."""
    seen = itertools.dropwhile(lambda sign: unicodedata.category(sign)[0] in BLANK, cell)
    first = unicodedata.normalize("NFKC", next(seen, ""))
    return f"'{cell}" if first.startswith(FORMULA) else cell
