"""Fill marks into Moodle's grading worksheet of an assignment, or into its gradebook's CSV export.

The worksheet ("Download grading worksheet") has Identifier, Full name, Email address, Status, Grade, Maximum Grade,
Grade can be changed, when things were last modified, and Feedback comments where the assignment has them, which are
HTML. Moodle reads back Identifier, Grade and Feedback comments, and compares "Last modified (grade)" with what it has,
so that must stay. The number in "Participant 1234" is the one in the names of the files that "Download all submissions"
gives.

The gradebook's export has First name, Last name (or Surname), ID number, Email address, and a column for each activity:
"Assignment: Masks (Real)". A "-" there is no grade.

Moodle writes headings in the language of the site. Those that are not in English are found by what stands below them
(numbers behind one word, e-mail addresses, times under two headings of the same words); the column to fill in is named
with --assignment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from grader.errors import UsageError
from grader.reports.gradebook.csv_sheet import Sheet
from grader.reports.gradebook.fill_column import (
    EMPTY,
    MAX_SHOWN,
    Filled,
    choose_column,
    fill,
    match_column,
    read_maximum,
    split_brackets,
    uses_comma,
)
from grader.reports.gradebook.late import LateRule
from grader.reports.gradebook.marks import Mark
from grader.reports.gradebook.match_people import Person
from grader.reports.gradebook.read_time import READ, read_time

IDENTIFIERS = ("ID number", "Username", "Email address", "Email", "Student ID")
NAMES = (("Full name",), ("First name", "Last name"), ("First name", "Surname"))
WORKSHEET = ("Status", "Team", "Marker", "Marking workflow state", "Grade can be changed", "Scale")
NO_GRADE = re.compile(
    r"\((feedback|percentage|letter)\)$|^(institution|department|suspended|groups?)$|^(last downloaded|last modified)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?P<word>\D*+)(?P<number>\d++)")  # gives nothing back, so its time grows with the cell alone


def fill_moodle(
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

    Without `out_of`, a 10.0 is worth each line's Maximum Grade, or 100.

    Raises UsageError for a file of neither kind, a column that is missing, an assignment that is graded on a scale, a
    time that `late` needs and that is not read, and if no mark fits any row.
    """
    rows = [row for row in range(sheet.header_row + 1, len(sheet.rows)) if sheet.rows[row]]
    maximum = sheet.find_column("Maximum grade")
    if sheet.find_column("Scale") is not None and maximum is None:
        what = "this assignment is graded on a scale, which takes no points"
        raise UsageError(what, where=sheet.name, next_step='set its grade type to "Point" in Moodle, then export again')
    if not match_by and _identifier(sheet, rows) is None and not _has_people(sheet, rows):
        what = "this is neither a grading worksheet nor a grade export of Moodle"
        next_step = "name the column with your learners' ids: --match-by HEADING"
        raise UsageError(what, where=sheet.name, next_step=next_step)
    column = _grade_column(sheet, rows, assignment, guesses)
    changeable = sheet.find_column("Grade can be changed")

    def points(row: int) -> float:
        return out_of or read_maximum(sheet, row, maximum) or 100.0

    def stays(row: int, _value: str) -> str:
        is_locked = changeable is not None and sheet.value(row, changeable).casefold() == "no"
        return "Moodle says that its grade cannot be changed" if is_locked else ""

    comma = uses_comma(sheet, [(row, each) for row in rows for each in (column, maximum) if each is not None])
    people = _people(sheet, rows, match_by)
    handed_in = _handed_in_column(sheet, rows)
    return fill(
        sheet,
        column,
        people,
        marks,
        out_of=points,
        stays=stays,
        decimal_comma=comma,
        keep=keep,
        comments=sheet.find_column("Feedback comments"),
        late=late,
        handed_in=lambda row: None if handed_in is None else _read_handed_in(sheet, row, handed_in),
    )


def _handed_in_column(sheet: Sheet, rows: Sequence[int]) -> int | None:
    """Return the column that says when work came.

    In any language a worksheet calls it as the time of the grade, to its right, but for what stands in brackets.
    """
    known = sheet.find_column("Last modified (submission)")
    if known is not None or _identifier(sheet, rows) is None:
        return known
    bracketed = {column: split_brackets(heading) for column, heading in enumerate(sheet.headings)}
    words = {column: title.casefold() for column, (title, inside) in bracketed.items() if title and inside}
    cells = ((row, column) for row in rows for column in range(len(sheet.rows[row])) if column in words)
    others = {column for row, column in cells if not _may_be_time(sheet.value(row, column))}
    alike: dict[str, list[int]] = {}
    for column in words.keys() - others:
        alike.setdefault(words[column], []).append(column)
    pairs = [columns for columns in alike.values() if len(columns) == 2]
    return min(pairs[0]) if len(pairs) == 1 else None


def _may_be_time(cell: str) -> bool:
    return cell in EMPTY or len(re.findall(r"\d", cell)) > 4


def _read_handed_in(sheet: Sheet, row: int, column: int) -> float | None:
    """Return when the work of a row came, None where the cell is empty; raise UsageError for a time that is not read.

    It cannot count as in time: of a class whose times are all written so, nobody would be late.
    """
    text = sheet.value(row, column)
    when = read_time(text)
    if when is None and text not in EMPTY:
        where = f"{sheet.name}:{sheet.line(row)}"
        what = (
            f'"{text[:MAX_SHOWN]}" under "{sheet.headings[column]}" is no time that is read, so who is late is unknown'
        )
        next_step = (
            f"write such times in one of these forms, which Moodle does not read back: {READ}; or give no [late]"
        )
        raise UsageError(what, where=where, next_step=next_step)
    return when


def _grade_column(sheet: Sheet, rows: Sequence[int], wanted: str, guesses: Sequence[str]) -> int:
    """Find the column Grade of a worksheet, or that of an activity in an export."""
    grade = sheet.find_column("Grade")
    if not wanted and grade is not None:
        return grade
    names = [*IDENTIFIERS, *(name for names in NAMES for name in names), "Identifier", *WORKSHEET, "Maximum grade"]
    others = {sheet.find_column(name) for name in names} | {_identifier(sheet, rows), _addresses(sheet, rows)}
    candidates = [
        column
        for column, heading in enumerate(sheet.headings)
        if heading and column not in others and not NO_GRADE.search(heading)
    ]
    return choose_column(sheet, candidates, wanted, guesses)


def _people(sheet: Sheet, rows: Sequence[int], match_by: str) -> list[Person]:
    participants = _identifier(sheet, rows)
    if match_by:
        columns: list[int | None] = [match_column(sheet, match_by)]
    else:
        columns = [*(sheet.find_column(name) for name in IDENTIFIERS), participants, _addresses(sheet, rows)]
    people = []
    for row in rows:
        values = [sheet.identifier(row, column) for column in dict.fromkeys(columns) if column is not None]
        if participants is not None and participants in columns:  # a user name may end in any number
            value = sheet.identifier(row, participants)
            values.append(numbered["number"] if (numbered := _NUMBERED.fullmatch(value)) else value)
        people.append(Person(row, tuple(values), _name(sheet, row)))
    return people


def _has_people(sheet: Sheet, rows: Sequence[int]) -> bool:
    known = sheet.find_column(*IDENTIFIERS, *(name for names in NAMES for name in names))
    return known is not None or _addresses(sheet, rows) is not None


def _name(sheet: Sheet, row: int) -> str:
    for names in NAMES:
        columns = [sheet.find_column(name) for name in names]
        if None not in columns:
            return " ".join(sheet.identifier(row, column) for column in columns if column is not None).strip()
    return ""


def _identifier(sheet: Sheet, rows: Sequence[int]) -> int | None:
    """Return the first column if each of its cells is one word and a number, as "Participant 17" in any language."""
    if 0 in [sheet.find_column(name) for name in IDENTIFIERS]:
        return None
    found = [_NUMBERED.fullmatch(sheet.value(row, 0)) for row in rows]
    words = {match["word"].rstrip() for match in found if match}
    return 0 if found and all(found) and len(words) == 1 and words != {""} else None


def _addresses(sheet: Sheet, rows: Sequence[int]) -> int | None:
    """Return the first column that holds e-mail addresses and nothing else."""
    found, others = set[int](), set[int]()
    for row in rows:
        for column in range(len(sheet.rows[row])):
            if column not in others and (value := sheet.value(row, column)):
                (found if re.fullmatch(r"[^@\s]+@[^@\s]+", value) else others).add(column)
    return min(found - others, default=None)
