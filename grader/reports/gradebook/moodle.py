"""Moodle: marks into the grading worksheet of an assignment, or into the gradebook's own CSV export.

The worksheet ("Download grading worksheet") has Identifier, Full name, Email address, Status, Grade, Maximum Grade,
Grade can be changed, and when things were last modified. Moodle reads back Identifier and Grade, and compares "Last
modified (grade)" with what it has, so that must stay. The number in "Participant 1234" is the one in the names of the
files that "Download all submissions" gives.

The gradebook's export has First name, Last name (or Surname), ID number, Email address, and a column for each activity:
"Assignment: Masks (Real)". A "-" there is no grade.

Moodle writes headings in the language of the site. Those that are not in English are found by what stands below them
(numbers behind one word, e-mail addresses); the column to fill in is named with --assignment.
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

EXACT = ("ID number", "Username", "Email address", "Email", "Student ID")
NAMES = (("Full name",), ("First name", "Last name"), ("First name", "Surname"))
WORKSHEET = ("Status", "Team", "Marker", "Marking workflow state", "Grade can be changed", "Scale")
NO_GRADE = re.compile(
    r"\((feedback|percentage|letter)\)$|^(institution|department|suspended|groups?)$|^(last downloaded|last modified)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^(?P<word>\D*?)\s*(?P<number>\d+)$")


def fill_moodle(
    sheet: Sheet,
    marks: Iterable[Mark],
    *,
    assignment: str = "",
    guesses: Sequence[str] = (),
    out_of: float | None = None,
    match_by: str = "",
    keep: bool = False,
) -> Filled:
    """The file with the marks filled in. Without `out_of`, 10.0 is worth each line's Maximum Grade, or 100.

    Raises UsageError for a file of neither kind, a column that is not there, an assignment that is graded on a scale,
    and where nobody is found.
    """
    heads = headings(sheet)
    rows = [row for row in range(header_row(sheet) + 1, len(sheet.rows)) if sheet.rows[row]]
    if column_of(heads, "Scale") is not None and column_of(heads, "Maximum grade") is None:
        what = "this assignment is graded on a scale, which takes no points"
        raise UsageError(what, where=sheet.name, next_step='set its grade type to "Point" in Moodle, then export again')
    if not match_by and _identifier(sheet, rows) is None and not _knows_people(sheet, heads, rows):
        what = "this is neither a grading worksheet nor a grade export of Moodle"
        raise UsageError(
            what, where=sheet.name, next_step="name the column with your learners' ids: --match-by HEADING"
        )
    column = _grade_column(sheet, heads, rows, assignment, guesses)
    maximum = column_of(heads, "Maximum grade")
    changeable = column_of(heads, "Grade can be changed")
    places = [(row, place) for row in rows for place in (column, maximum) if place is not None]
    return fill(
        sheet, column, _people(sheet, heads, rows, match_by), marks,
        out_of=lambda row: out_of or _maximum(sheet, row, maximum) or 100.0,
        stays=lambda row, _value: _locked(sheet, row, changeable),
        decimal_comma=uses_comma(sheet, places), keep=keep,
    )  # fmt: skip


def _maximum(sheet: Sheet, row: int, column: int | None) -> float | None:
    return None if column is None else number_in(sheet.value(row, column))


def _locked(sheet: Sheet, row: int, column: int | None) -> str:
    locked = column is not None and sheet.value(row, column).casefold() == "no"
    return "Moodle says that its grade cannot be changed" if locked else ""


def _grade_column(sheet: Sheet, heads: Sequence[str], rows: Sequence[int], wanted: str, guesses: Sequence[str]) -> int:
    """In a worksheet the column Grade; in an export the one of an activity."""
    grade = column_of(heads, "Grade")
    if not wanted and grade is not None:
        return grade
    people = {column_of(heads, name) for names in (EXACT, *NAMES, ("Identifier",)) for name in names}
    people |= {_identifier(sheet, rows), _addresses(sheet, rows)}
    others = {column_of(heads, name) for name in (*WORKSHEET, "Maximum grade")}
    candidates = [
        column
        for column, heading in enumerate(heads)
        if heading and column not in people | others and not NO_GRADE.search(heading)
    ]
    return choose_column(sheet, candidates, wanted, guesses)


def _people(sheet: Sheet, heads: Sequence[str], rows: Sequence[int], match_by: str) -> list[Person]:
    if match_by:
        columns: list[int | None] = [match_column(sheet, match_by)]
    else:
        columns = [column_of(heads, name) for name in EXACT]
        columns += [_identifier(sheet, rows), _addresses(sheet, rows)]
    people = []
    for row in rows:
        values = [sheet.value(row, column) for column in dict.fromkeys(columns) if column is not None]
        numbers = [found["number"] for value in values if (found := _NUMBERED.match(value)) and found["word"]]
        people.append(Person(row, (*values, *numbers), _name(sheet, heads, row)))
    return people


def _knows_people(sheet: Sheet, heads: Sequence[str], rows: Sequence[int]) -> bool:
    known = [column_of(heads, name) for names in (EXACT, *NAMES) for name in names]
    return any(column is not None for column in known) or _addresses(sheet, rows) is not None


def _name(sheet: Sheet, heads: Sequence[str], row: int) -> str:
    for names in NAMES:
        columns = [column_of(heads, name) for name in names]
        if None not in columns:
            return " ".join(sheet.value(row, column) for column in columns if column is not None).strip()
    return ""


def _identifier(sheet: Sheet, rows: Sequence[int]) -> int | None:
    """The first column, if each of its cells is one word and a number: "Participant 17", in any language."""
    found = [_NUMBERED.match(sheet.value(row, 0)) for row in rows]
    words = {match["word"] for match in found if match}
    return 0 if found and all(found) and len(words) == 1 and words != {""} else None


def _addresses(sheet: Sheet, rows: Sequence[int]) -> int | None:
    """The first column that holds e-mail addresses and nothing else."""
    for column in range(max((len(sheet.rows[row]) for row in rows), default=0)):
        values = [value for row in rows if (value := sheet.value(row, column))]
        if values and all(re.fullmatch(r"[^@\s]+@[^@\s]+", value) for value in values):
            return column
    return None
