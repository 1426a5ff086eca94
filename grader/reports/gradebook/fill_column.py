"""Fill marks into one column of a gradebook, and report what became of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from grader.errors import UsageError
from grader.files import fit_html
from grader.reports.gradebook.csv_sheet import Sheet
from grader.reports.gradebook.due_dates import DueDates, find_due_dates
from grader.reports.gradebook.late import TIME_UNKNOWN, LateRule
from grader.reports.gradebook.marks import COMMENT_BEGINS, Mark
from grader.reports.gradebook.match_people import Matches, Person, match
from grader.reports.record_view import MAX_POINTS

EMPTY = ("", "-")  # what a cell without a grade holds
MAX_SHOWN = 60  # characters of a cell in a message
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
KINDS_OF_GRADE = ("real", "point", "points")  # in Moodle's own headings


@dataclass(frozen=True)
class Deduction:
    """The points of somebody whose work came late, before what was deducted."""

    who: str
    raw: float
    deduction: float
    why: str


@dataclass
class Filled:
    """The filled-in file, and who got what.

    `replaced` holds (who, before, now); `left`, the cells that stay, and `ambiguous` hold (who, why); `extends_nobody`,
    lines of the extensions, (who, where, why).
    """

    content: bytes
    column: str
    out_of: list[float] = field(default_factory=list)  # the numbers of points that a 10.0 was worth
    filled: int = 0
    unchanged: int = 0
    replaced: list[tuple[str, str, str]] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    ambiguous: list[tuple[str, str]] = field(default_factory=list)
    not_in_file: list[str] = field(default_factory=list)  # records that fit no row
    not_in_results: list[str] = field(default_factory=list)  # people without a record
    older: list[str] = field(default_factory=list)  # attempts
    late: list[Deduction] = field(default_factory=list)
    time_unknown: list[str] = field(default_factory=list)  # people of whom nothing says when their work came
    extends_nobody: list[tuple[str, str, str]] = field(default_factory=list)
    comments: int = 0  # feedback comments written
    own_comments: list[str] = field(default_factory=list)  # people whose comment somebody else wrote
    by_hand: list[tuple[str, str]] = field(default_factory=list)  # (who, what a human said)
    zeros: list[tuple[str, str]] = field(default_factory=list)  # (who, what was not handed in and counts as 0)

    def to_object(self) -> dict[str, Any]:
        """Return the documented object of `grader export --json`."""
        data = {name: value for name, value in vars(self).items() if name != "content"}
        return data | {
            "replaced": [{"who": who, "before": before, "now": now} for who, before, now in self.replaced],
            "late": [vars(one) for one in self.late],
            "time_unknown": [{"who": who, "why": TIME_UNKNOWN} for who in self.time_unknown],
            "left": [{"who": who, "why": why} for who, why in self.left],
            "zeros": [{"who": who, "lessons": lessons} for who, lessons in self.zeros],
            "by_hand": [{"who": who, "says": says} for who, says in self.by_hand],
            "ambiguous": [{"who": who, "why": why} for who, why in self.ambiguous],
            "extends_nobody": [{"who": who, "where": at, "why": why} for who, at, why in self.extends_nobody],
        }


class _Late(NamedTuple):
    """What is known of late work: the rule, who has a due date of their own, and when the work of a row came."""

    rule: LateRule | None
    dates: DueDates
    handed_in: Callable[[int], float | None]


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
    comments: int | None = None,
    late: LateRule | None = None,
    handed_in: Callable[[int], float | None] = lambda _row: None,
) -> Filled:
    """Put the marks into `column`. Raises UsageError if no mark fits any row.

    `out_of` returns the points of a 10.0 in a row; `stays`, why the cell of a row, with its value, must not be changed,
    or "". `keep` leaves the grades that are there already. `comments` is the column of comments, None if there is none.
    `late` says what is deducted; `handed_in` returns when the work of a row came, as far as the sheet says it.
    """
    marks = list(marks)
    matches = match(people, marks)
    if not matches.pairs and not matches.ambiguous:
        raise _nobody_fits(sheet, people, matches)
    report = Filled(b"", sheet.headings[column])
    changes: dict[tuple[int, int], str] = {}
    known = _Late(late, find_due_dates(late.extensions if late else (), marks, matches), handed_in)
    worth = set()
    for person in people:
        mark = matches.pairs.get(person.row)
        if mark is None:
            continue
        before = sheet.value(person.row, column)
        if comments is not None and mark.comment and not stays(person.row, before):
            _add_comment(sheet, person, comments, mark, report, changes)
        why = mark.why if mark.share is None else _why_not(sheet, person.row, column, before, stays, keep)
        if why or mark.share is None:
            report.left.append((person.label, why))
            continue
        report.by_hand += [(person.label, mark.note)] if mark.note else []
        report.zeros += [(person.label, ", ".join(mark.zeros))] if mark.zeros else []
        points = out_of(person.row)
        worth.add(points)
        value = f"{round(_earned(mark, person, points, known, report), 2):.2f}"
        if parse_number(before) == float(value):
            report.unchanged += 1
            continue
        changes[person.row, column] = value.replace(".", ",") if decimal_comma else value
        if before in EMPTY:
            report.filled += 1
        else:
            report.replaced.append((person.label, before, value))
    report.content = sheet.with_values(changes)
    report.out_of = sorted(worth)
    report.ambiguous = [(mark.label, why) for mark, why in matches.ambiguous]
    report.not_in_file = [mark.label for mark in matches.unknown]
    report.not_in_results = [person.label for person in matches.without]
    report.older = [mark.id for mark in matches.older]
    report.extends_nobody = [(one.who, one.where, why) for one, why in known.dates.nobody]
    return report


def _earned(mark: Mark, person: Person, points: float, late: _Late, report: Filled) -> float:
    """Return the points of a mark, less what is deducted, which is reported."""
    share = mark.share or 0.0
    if late.rule is None:
        return share * points
    when = late.handed_in(person.row) if mark.when is None and not mark.is_timeless else None
    deduction, reason = late.rule.deduct(mark, when, late.dates.of(mark.learner))
    less = min(share, deduction)
    if reason == TIME_UNKNOWN:
        report.time_unknown += [person.label] if share else []  # of nothing nothing could be deducted
    elif reason:
        report.late.append(Deduction(person.label, round(share * points, 2), round(less * points, 2), reason))
    return (share - less) * points


def _nobody_fits(sheet: Sheet, people: Sequence[Person], matches: Matches) -> UsageError:
    known = ", ".join(mark.label for mark in matches.unknown[:3]) or "nobody"
    seen = ", ".join(person.label for person in people[:3]) or "nobody"
    what = f"nobody in this file has results: the results know {known}, the file {seen}"
    next_step = "name the column that holds your learners' ids with --match-by, or grade with a roster"
    return UsageError(what, where=sheet.name, next_step=next_step)


def _add_comment(
    sheet: Sheet, person: Person, column: int, mark: Mark, report: Filled, changes: dict[tuple[int, int], str]
) -> None:
    """Put a mark's comment into its cell, unless somebody has written there."""
    before, comment = sheet.text_of(person.row, column), fit_html(mark.comment, sheet.encoding)
    if column >= len(sheet.rows[person.row]) or before == comment:
        return
    if before and not before.startswith(COMMENT_BEGINS):
        report.own_comments.append(person.label)
        return
    changes[person.row, column] = comment
    report.comments += 1


def _why_not(sheet: Sheet, row: int, column: int, before: str, stays: Callable[[int, str], str], keep: bool) -> str:
    if column >= len(sheet.rows[row]):
        return "its line is too short"
    if keep and before not in EMPTY:
        return f"there is a grade already: {before}"
    return stays(row, before)


def choose_column(sheet: Sheet, candidates: Sequence[int], wanted: str, guesses: Sequence[str]) -> int:
    """Return the column called `wanted` (with or without its number, or by its number).

    Without `wanted` it is one called like one of `guesses`, or the only one. Raises UsageError with the candidates.
    """
    heads = sheet.headings
    for name in filter(None, [wanted] if wanted else guesses):
        exact = [column for column in candidates if heads[column] == name.strip()]
        for found in (exact, [column for column in candidates if _fits(heads[column], name)]):
            if len(found) == 1:
                return found[0]
            if len(found) > 1:
                raise _unclear_column(sheet, f'"{name}" fits several columns', found)
    if wanted:
        rest = "; there is" if candidates else ""
        raise _unclear_column(sheet, f'there is no column "{wanted}" to fill in{rest}', candidates)
    if len(candidates) == 1:
        return candidates[0]
    what = "there are several columns to fill in" if candidates else "there is no column to fill in"
    raise _unclear_column(sheet, what, candidates)


def _fits(heading: str, name: str) -> bool:
    """Return True if a heading is this name, with or without its number, its kind of activity and of grade."""
    title, inside = split_brackets(heading)
    # Moodle's own export says what kind of activity a column is, and what kind of grade: "Assignment: Masks (Real)"
    plain = title if inside.casefold() in KINDS_OF_GRADE else heading
    known = {heading, plain, plain.partition(":")[2].strip(), *((title, inside) if inside.isdecimal() else ())}
    return _fold(name) in {_fold(each) for each in known if each}


def split_brackets(heading: str) -> tuple[str, str]:
    """Return what stands before the brackets in which a heading ends, and in them, which is "" without brackets."""
    title, _, inside = heading[:-1].rpartition("(")
    if not heading.endswith(")") or not inside or ")" in inside:
        return heading, ""
    return title.rstrip(), inside


def _fold(text: str) -> str:
    return " ".join(text.replace("_", " ").casefold().split())


def _unclear_column(sheet: Sheet, what: str, columns: Sequence[int]) -> UsageError:
    heads = sheet.headings
    names = ", ".join(f'"{heads[column]}"' for column in columns[:12]) + (", ..." if len(columns) > 12 else "")
    if not names:
        return UsageError(what, where=sheet.name, next_step="add the assignment on the platform, then export again")
    return UsageError(f"{what}: {names}", where=sheet.name, next_step="name it with --assignment")


def match_column(sheet: Sheet, name: str) -> int:
    """Return the column that --match-by names. Raises UsageError."""
    found = [column for column, heading in enumerate(sheet.headings) if _fold(heading) == _fold(name)]
    if len(found) != 1:
        what = f'there is no column "{name}"' if not found else f'there are {len(found)} columns "{name}"'
        raise UsageError(what, where=sheet.name, next_step="name one of its headings with --match-by")
    return found[0]


def uses_comma(sheet: Sheet, places: Iterable[tuple[int, int]]) -> bool:
    """Return True if numbers have a decimal comma in these cells; if none has decimals, in others of a file of `;`."""
    here = [sheet.value(row, column) for row, column in places]
    if sheet.delimiter == ";" and not any(re.fullmatch(r"-?\d+[.,]\d+", text) for text in here):
        here = [cell.value for row in sheet.rows for cell in row]
    return any(re.fullmatch(r"-?\d+,\d+", text) for text in here)


def read_maximum(sheet: Sheet, row: int | None, column: int | None) -> float | None:
    """Read what a cell says that the most is; None where there is no such cell, or nothing in it.

    Raises UsageError for what is no number of 0 or more: marks would be negative, or of another maximum.
    """
    text = sheet.value(row, column).strip() if row is not None and column is not None else ""
    found = parse_number(text)
    if (found is None and text not in ("", "-")) or (found is not None and not 0 <= found <= MAX_POINTS):
        what = f'the maximum is "{text[:MAX_SHOWN]}", which is no number of points'
        raise UsageError(what, where=sheet.name, next_step="correct it there, or say what a 10.0 is worth: --out-of N")
    return found


def parse_number(text: str) -> float | None:
    """Read the number in a cell, with a point or a comma; None if it holds none."""
    return float(text.replace(",", ".")) if _NUMBER.fullmatch(text) else None
