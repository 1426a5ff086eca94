"""Marks into one column of a gradebook, and what became of each: the part that Canvas and Moodle share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.errors import UsageError
from grader.reports.gradebook.csv_sheet import Sheet
from grader.reports.gradebook.marks import Mark
from grader.reports.gradebook.match_people import Person, join

NOTHING = ("", "-")  # what an empty cell holds
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
_NUMBERED = re.compile(r"^(?P<title>.*?)\s*\((?P<number>\d+)\)$", re.DOTALL)


@dataclass
class Filled:
    """The filled-in file, and who got what. `replaced`: (who, before, now). `left`: (who, why) for cells that stay as
    they were. `not_in_file`: records of nobody there; `not_in_results`: people there of whom there is no record."""

    content: bytes
    column: str
    out_of: list[float] = field(default_factory=list)  # the different numbers of points that 10.0 was worth
    filled: int = 0
    unchanged: int = 0
    replaced: list[tuple[str, str, str]] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    ambiguous: list[tuple[str, str]] = field(default_factory=list)
    not_in_file: list[str] = field(default_factory=list)
    not_in_results: list[str] = field(default_factory=list)
    older: list[str] = field(default_factory=list)

    def to_object(self) -> dict[str, Any]:
        """The documented object of `grader export --json`."""
        return {
            "column": self.column,
            "out_of": self.out_of,
            "filled": self.filled,
            "unchanged": self.unchanged,
            "replaced": [{"who": who, "before": before, "now": now} for who, before, now in self.replaced],
            "left": [{"who": who, "why": why} for who, why in self.left],
            "ambiguous": [{"who": who, "why": why} for who, why in self.ambiguous],
            "not_in_file": self.not_in_file,
            "not_in_results": self.not_in_results,
            "older": self.older,
        }


def fill(
    sheet: Sheet,
    column: int,
    people: Sequence[Person],
    marks: Iterable[Mark],
    *,
    out_of: Callable[[int], float],
    stays: Callable[[int, str], str],
    decimal_comma: bool,
    keep: bool,
) -> Filled:
    """Put the marks into `column`. `out_of(row)`: the points of a 10.0; `stays(row, value)`: why a cell must not be
    touched, "" if it may; `keep`: a grade that is there already stays. Raises UsageError where no mark fits anybody."""
    joined = join(people, marks)
    if not joined.pairs and not joined.ambiguous:
        known = ", ".join(mark.shown for mark in joined.unknown[:3]) or "nobody"
        seen = ", ".join(person.shown for person in people[:3]) or "nobody"
        raise UsageError(
            f"nobody in this file has results: the results know {known}, the file {seen}", where=sheet.name,
            next_step="name the column that holds your learners' ids with --match-by, or grade with a roster",
        )  # fmt: skip
    report = Filled(b"", sheet.value(header_row(sheet), column))
    changes: dict[tuple[int, int], str] = {}
    worth = set()
    for person in people:
        mark = joined.pairs.get(person.row)
        if mark is None:
            continue
        before = sheet.value(person.row, column)
        why = mark.why if mark.share is None else _why_not(sheet, person.row, column, before, stays, keep)
        if why or mark.share is None:
            report.left.append((person.shown, why))
            continue
        points = out_of(person.row)
        worth.add(points)
        value = f"{round(mark.share * points, 2):.2f}"
        if _number(before) == float(value):
            report.unchanged += 1
            continue
        changes[person.row, column] = value.replace(".", ",") if decimal_comma else value
        if before in NOTHING:
            report.filled += 1
        else:
            report.replaced.append((person.shown, before, value))
    report.content = sheet.with_values(changes)
    report.out_of = sorted(worth)
    report.ambiguous = [(mark.shown, why) for mark, why in joined.ambiguous]
    report.not_in_file = [mark.shown for mark in joined.unknown]
    report.not_in_results = [person.shown for person in joined.without]
    report.older = [mark.id for mark in joined.older]
    return report


def _why_not(sheet: Sheet, row: int, column: int, before: str, stays: Callable[[int, str], str], keep: bool) -> str:
    if column >= len(sheet.rows[row]):
        return "its line is too short"
    if keep and before not in NOTHING:
        return f"there is a grade already: {before}"
    return stays(row, before)


def header_row(sheet: Sheet) -> int:
    """The first line that is not empty. Raises UsageError for a file without one."""
    row = next((row for row, cells in enumerate(sheet.rows) if any(cell.value.strip() for cell in cells)), None)
    if row is None:
        raise UsageError("this file is empty", where=sheet.name, next_step="export the gradebook as CSV")
    return row


def headings(sheet: Sheet) -> list[str]:
    """The headings of the columns."""
    return [cell.value.strip() for cell in sheet.rows[header_row(sheet)]]


def choose_column(sheet: Sheet, candidates: Sequence[int], wanted: str, guesses: Sequence[str]) -> int:
    """The column to fill: the one called `wanted` (whole, without its number, or by its number); without a wish one
    called like one of `guesses`, or the only one. Raises UsageError with the possible ones."""
    heads = headings(sheet)
    for name in filter(None, [wanted] if wanted else guesses):
        for fits in (_is_exactly, _is_nearly):
            found = [column for column in candidates if fits(heads[column], name)]
            if len(found) == 1:
                return found[0]
            if len(found) > 1:
                raise _unclear(sheet, f'"{name}" fits several columns', found)
    if wanted:
        raise _unclear(sheet, f'there is no column "{wanted}" to fill in', candidates)
    if len(candidates) == 1:
        return candidates[0]
    what = "there are several columns to fill in" if candidates else "there is no column to fill in"
    raise _unclear(sheet, what, candidates)


def _is_exactly(heading: str, name: str) -> bool:
    return heading == name.strip()


def _is_nearly(heading: str, name: str) -> bool:
    numbered = _NUMBERED.match(heading)
    known = {heading, *(numbered.groups() if numbered else ())}
    # Moodle's own export says what kind of activity a column is, and what kind of grade: "Assignment: Masks (Real)"
    plain = re.sub(r"\s*\((?:real|points?)\)$", "", heading, flags=re.IGNORECASE)
    known |= {plain, plain.partition(":")[2].strip()}
    return _folded(name) in {_folded(each) for each in known if each}


def _folded(text: str) -> str:
    return " ".join(text.replace("_", " ").casefold().split())


def _unclear(sheet: Sheet, what: str, columns: Sequence[int]) -> UsageError:
    heads = headings(sheet)
    names = ", ".join(f'"{heads[column]}"' for column in columns[:12]) + (", ..." if len(columns) > 12 else "")
    if not names:
        return UsageError(what, where=sheet.name, next_step="add the assignment on the platform, then export again")
    return UsageError(f"{what}: {names}", where=sheet.name, next_step="name it with --assignment")


def match_column(sheet: Sheet, name: str) -> int:
    """The column that --match-by names. Raises UsageError."""
    found = [column for column, heading in enumerate(headings(sheet)) if _folded(heading) == _folded(name)]
    if len(found) != 1:
        what = f'there is no column "{name}"' if not found else f'there are {len(found)} columns "{name}"'
        raise UsageError(what, where=sheet.name, next_step="name one of its headings with --match-by")
    return found[0]


def uses_comma(sheet: Sheet, places: Iterable[tuple[int, int]]) -> bool:
    """Whether numbers are written with a decimal comma in these cells."""
    return any(re.fullmatch(r"-?\d+,\d+", sheet.value(row, column)) for row, column in places)


def number_in(text: str) -> float | None:
    """The number that a cell holds, with a point or a comma; None if it holds none."""
    return _number(text)


def _number(text: str) -> float | None:
    return float(text.replace(",", ".")) if _NUMBER.fullmatch(text) else None
