"""Read who has more time: a CSV file with the columns id and due."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path

from grader.errors import UsageError
from grader.files import at
from grader.intake.platform_names import end_of, parse_due
from grader.intake.roster import Roster
from grader.reports.gradebook.csv_sheet import Sheet, read_sheet
from grader.reports.gradebook.due_dates import Extension

NEXT_STEP = "correct it, then repeat the command"
TIME = 'write a day or a time: "2026-11-25", "2026-11-25 18:00"'


def read_extensions(path: Path, roster: Path | None) -> tuple[Extension, ...]:
    """Read the lines that are not empty; who is in the *roster* has the id that results have.

    Raises UsageError with the line of what is no time.
    """
    sheet = read_sheet(path, "name the file with the columns id and due")
    own, due = sheet.find_column("id"), sheet.find_column("due")
    if own is None or due is None:
        raise UsageError("the extensions have no columns id and due", where=str(path), next_step=NEXT_STEP)
    people = Roster.read(roster) if roster else None
    rows = range(sheet.header_row + 1, len(sheet.rows))
    return tuple(_read_line(sheet, row, own, due, path, people) for row in rows if _is_filled(sheet, row, own, due))


def _is_filled(sheet: Sheet, row: int, *columns: int) -> bool:
    return any(sheet.value(row, column) for column in columns)


def _read_line(sheet: Sheet, row: int, own: int, due: int, path: Path, people: Roster | None) -> Extension:
    who, where = sheet.identifier(row, own), at(path, sheet.line(row))
    when = read_due(sheet.value(row, due))
    if when is None:
        what = f"{sheet.value(row, due) or 'nothing'} is no time"
        raise UsageError(what, where=where, next_step=f"{TIME}; then repeat the command")
    person = people.find([who]) if people else None
    return Extension(who, person.id if person else who, when, where)


def read_due(value: object) -> float | None:
    """Return a time in seconds since 1970; a day is meant to its end, and in this machine's zone without another.

    A short number is no time: who writes 3 means three days more.
    """
    if isinstance(value, str):
        return parse_due(value)
    try:
        if isinstance(value, datetime):
            return value.timestamp()
        return end_of(value) if isinstance(value, date) else None
    except (ValueError, OverflowError):  # of the year 1
        return None
