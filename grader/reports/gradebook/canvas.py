"""Fill marks into the CSV file that Canvas's "Export Entire Gradebook" gives.

Its columns are Student (or LastName, FirstName), ID, SIS User ID, SIS Login ID, Integration ID, Root Account and
Section, then one for each assignment, called "Title (number)", then totals that are read only. Below the headings may
stand a line that says which assignments are muted, and one with the points possible; the test student comes last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from grader.errors import UsageError
from grader.reports.gradebook.csv_sheet import Sheet
from grader.reports.gradebook.fill_column import Filled, choose_column, fill, match_column, read_maximum, uses_comma
from grader.reports.gradebook.late import LateRule
from grader.reports.gradebook.marks import Mark
from grader.reports.gradebook.match_people import Person

IDENTIFIERS = ("ID", "SIS User ID", "SIS Login ID", "Integration ID")
STUDENT_COLUMNS = ("Student", "LastName", "FirstName", *IDENTIFIERS, "Root Account", "Section")
TEST_STUDENTS = ("student, test", "test student")
STAYS = {"EX": "excused", "N/A": "the assignment is not for them"}

_TOTAL = re.compile(r"(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)")
_MUTED = re.compile(r"(?:Muted|Manual Posting.*)?", re.IGNORECASE)


def fill_canvas(
    sheet: Sheet,
    marks: Iterable[Mark],
    *,
    assignment: str = "",
    guesses: Sequence[str] = (),
    out_of: float | None = None,
    match_by: str = "",
    keep: bool = False,
    late: LateRule | None = None,
) -> Filled:
    """Fill the marks in, less what `late` deducts.

    Without `out_of`, a 10.0 is worth the assignment's points possible, or 100.

    Raises UsageError for a file that is no Canvas gradebook, a column that is missing or read only, and if no mark fits
    any row.
    """
    if not ({"Student", "LastName"} & set(sheet.headings)) or "ID" not in sheet.headings:
        what = "this is no gradebook of Canvas: it has no columns Student and ID"
        raise UsageError(what, where=sheet.name, next_step='in Canvas: Grades, Export, "Export Entire Gradebook"')
    possible = _possible_row(sheet)
    column = choose_column(sheet, _assignments(sheet, possible), assignment, guesses)
    points = out_of or read_maximum(sheet, possible, column) or 100.0
    people = _people(sheet, possible, match_by)
    rows = [person.row for person in people] + ([possible] if possible is not None else [])
    return fill(
        sheet,
        column,
        people,
        marks,
        out_of=lambda _row: points,
        stays=lambda _row, value: STAYS.get(value.upper(), ""),
        decimal_comma=uses_comma(sheet, [(row, column) for row in rows]),
        keep=keep,
        late=late,
    )


def _possible_row(sheet: Sheet) -> int | None:
    rows = range(sheet.header_row + 1, len(sheet.rows))
    return next((row for row in rows if "Points Possible" in sheet.value(row, 0)), None)


def _assignments(sheet: Sheet, possible: int | None) -> list[int]:
    """List the columns that may be filled in: none about the learner, no totals, none that Canvas calls read only."""
    first = sheet.headings.index("ID") + 1
    return [
        column
        for column, heading in enumerate(sheet.headings)
        if column >= first
        and heading not in ("", *STUDENT_COLUMNS)
        and not _TOTAL.search(heading)
        and not (possible is not None and "read only" in sheet.value(possible, column))
    ]


def _people(sheet: Sheet, possible: int | None, match_by: str) -> list[Person]:
    chosen = [match_column(sheet, match_by)] if match_by else [sheet.find_column(name) for name in IDENTIFIERS]
    columns = [column for column in chosen if column is not None]
    people = []
    for row in range(sheet.header_row + 1, len(sheet.rows)):
        name = _name(sheet, row)
        muted = all(_MUTED.fullmatch(sheet.value(row, column)) for column in range(len(sheet.rows[row])))
        if row != possible and not muted and name.casefold() not in TEST_STUDENTS:
            people.append(Person(row, tuple(sheet.identifier(row, column) for column in columns), name))
    return people


def _name(sheet: Sheet, row: int) -> str:
    whole, last, first = (sheet.find_column(name) for name in ("Student", "LastName", "FirstName"))
    if whole is not None:
        return sheet.identifier(row, whole)
    names = [sheet.identifier(row, column) for column in (last, first) if column is not None]
    return ", ".join(names)
