"""Canvas: marks into the CSV file that "Export Entire Gradebook" gives, to be imported again.

Its columns are Student (or LastName, FirstName), ID, SIS User ID, SIS Login ID, Integration ID, Root Account and
Section, then one for each assignment, called "Title (number)", then totals that are read only. Below the headings may
stand a line that says which assignments are muted, and one with the points possible; the test student comes last.
Canvas compares what is imported with what it has, so nothing else may change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from grader.errors import UsageError
from grader.reports.gradebook.csv_sheet import Sheet, column_of
from grader.reports.gradebook.fill_column import (
    Filled,
    choose_column,
    fill,
    header_row,
    headings,
    match_column,
    number_in,
    uses_comma,
)
from grader.reports.gradebook.marks import Mark
from grader.reports.gradebook.match_people import Person

IDENTIFIERS = ("ID", "SIS User ID", "SIS Login ID", "Integration ID")
STUDENT_COLUMNS = ("Student", "LastName", "FirstName", *IDENTIFIERS, "Root Account", "Section")
TEST_STUDENTS = ("student, test", "test student")
STAYS = {"EX": "excused", "N/A": "the assignment is not for them"}

_TOTAL = re.compile(r"(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)")
_MUTED = re.compile(r"\s*(Muted|Manual Posting.*)?\s*", re.IGNORECASE)


def fill_canvas(
    sheet: Sheet,
    marks: Iterable[Mark],
    *,
    assignment: str = "",
    guesses: Sequence[str] = (),
    out_of: float | None = None,
    match_by: str = "",
    keep: bool = False,
) -> Filled:
    """The export with the marks filled in. Without `out_of`, 10.0 is worth the assignment's points possible, or 100.

    Raises UsageError for a file that is no Canvas gradebook, a column that is not there or read only, and where nobody
    is found.
    """
    heads = headings(sheet)
    if not ({"Student", "LastName"} & set(heads)) or "ID" not in heads:
        what = "this is no gradebook of Canvas: it has no columns Student and ID"
        raise UsageError(what, where=sheet.name, next_step='in Canvas: Grades, Export, "Export Entire Gradebook"')
    possible = _possible_row(sheet)
    column = choose_column(sheet, _assignments(sheet, heads, possible), assignment, guesses)
    worth = number_in(sheet.value(possible, column)) if possible is not None else None
    points = out_of or worth or 100.0
    people = _people(sheet, heads, possible, match_by)
    places = [(person.row, column) for person in people] + ([(possible, column)] if possible is not None else [])
    return fill(
        sheet, column, people, marks, out_of=lambda _row: points,
        stays=lambda _row, value: STAYS.get(value.upper(), ""), decimal_comma=uses_comma(sheet, places), keep=keep,
    )  # fmt: skip


def _possible_row(sheet: Sheet) -> int | None:
    rows = range(header_row(sheet) + 1, len(sheet.rows))
    return next((row for row in rows if "Points Possible" in sheet.value(row, 0)), None)


def _assignments(sheet: Sheet, heads: Sequence[str], possible: int | None) -> list[int]:
    """The columns that may be filled in: not the learner's own, no totals, nothing that Canvas calls read only."""
    return [
        column
        for column, heading in enumerate(heads)
        if heading and heading not in STUDENT_COLUMNS and not _TOTAL.search(heading)
        and not (possible is not None and "read only" in sheet.value(possible, column))
        and column > heads.index("ID")
    ]  # fmt: skip


def _people(sheet: Sheet, heads: Sequence[str], possible: int | None, match_by: str) -> list[Person]:
    chosen = [match_column(sheet, match_by)] if match_by else [column_of(heads, name) for name in IDENTIFIERS]
    columns = [column for column in chosen if column is not None]
    people = []
    for row in range(header_row(sheet) + 1, len(sheet.rows)):
        name = _name(sheet, heads, row)
        muted = all(_MUTED.fullmatch(cell.value) for cell in sheet.rows[row])
        if row != possible and not muted and name.casefold() not in TEST_STUDENTS:
            people.append(Person(row, tuple(sheet.value(row, column) for column in columns), name))
    return people


def _name(sheet: Sheet, heads: Sequence[str], row: int) -> str:
    if "Student" in heads:
        return sheet.value(row, heads.index("Student"))
    last, first = sheet.value(row, heads.index("LastName")), column_of(heads, "FirstName")
    return f"{last}, {sheet.value(row, first)}" if first is not None else last
