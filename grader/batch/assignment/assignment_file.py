"""One file for an assignment: how it is handed in and graded, what counts, and what is deducted for late work.

course = "our-course"                # else the bundled one
names = "canvas"                     # as the options of `grader run`: names, roster, attempts, before, seed
roster = "Grades-DL1.csv"            # paths begin at the file's folder
lessons = ["softmax", "attention"]
out = "results"
weights = {attention = 3}            # of lessons in the whole; 1 for others
best = 1                             # so many lessons count, those with the highest shares
missing = "zero"                     # or "exclude"; without it whoever lacks a lesson is left out
scale = "points"                     # or "score"
out_of = 20

[late]                               # in export only: scores stay as they are
due = 2026-11-20T23:59:00+01:00
grace = "15m"
per_day = 0.1                        # of all the points, for each day begun
at_most = 0.5
extensions = "extensions.csv"        # with the columns id and due; ids as in the roster, the results or the gradebook

[export]
canvas = "Grades-DL1.csv"            # or moodle
assignment = "Homework 1"
out = "upload.csv"
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.batch.assignment.extensions import NEXT_STEP, read_due, read_extensions
from grader.course.tables import Table, TomlText
from grader.errors import SelfattendError
from grader.files import read_file
from grader.intake.discover import ATTEMPTS
from grader.reports.gradebook.late import LateRule
from grader.reports.record_view import MAX_POINTS

RUN = ("names", "roster", "attempts", "before", "lessons", "seed", "out")
COUNTING = ("weights", "best", "missing", "scale", "out_of")
LATE = ("due", "grace", "per_day", "at_most", "extensions")
EXPORT = ("canvas", "moodle", "assignment", "match_by", "out")
MIN_WEIGHT, MAX_WEIGHT = 1e-6, 1e6
UNITS = {"m": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True)
class Assignment:
    """The options that the file sets, by command: those of `run`, of `export`, and what counts (`rule`)."""

    course: Path | None
    out: Path | None
    run: Mapping[str, Any]
    export: Mapping[str, Any]
    rule: Mapping[str, Any]
    late: LateRule | None


def read_assignment(path: Path) -> Assignment:
    """Read the file. Raises CourseError with the line of what is wrong."""
    table = TomlText(read_file(path, "the assignment's file", NEXT_STEP), path, next_step=NEXT_STEP).parse()
    table.only("course", *RUN, *COUNTING, "late", "export")
    course = _path(table, "course").absolute() if "course" in table.data else None
    run = {key: _READERS[key](table, key) for key in RUN if key in table.data}
    rule = {key: _READERS[key](table, key) for key in COUNTING if key in table.data}
    if "lessons" in run:
        require_fitting(rule, run["lessons"].split(","), lambda what, key: table.error(what, key))
    export = table.table("export")
    export.only(*EXPORT)
    exported = {key: _EXPORT_READERS[key](export, key) for key in EXPORT if key in export.data}
    late = table.table("late")
    late.only(*LATE)
    rule_of_late = _read_late(late, run.get("roster")) if late.data else None
    return Assignment(course, run.get("out"), run, exported, rule, rule_of_late)


def require_fitting(
    rule: Mapping[str, Any], lessons: Collection[str], error: Callable[[str, str], SelfattendError]
) -> None:
    """Raise what *error* makes of a sentence and a key if a rule is not of these lessons, such as a misspelt weight."""
    for lesson in rule.get("weights") or ():
        if lesson not in lessons:
            raise error(f'"{lesson}" has a weight and is none of the lessons', "weights")
    if (rule.get("best") or 0) > len(lessons):
        raise error(f'"best" is {rule["best"]}, and there are {len(lessons)} lessons', "best")


def _path(table: Table, key: str) -> Path:
    text = table.text(key)
    if "\0" in text:
        raise table.error(f'"{key}" is no path', key)
    return table.source.path.parent / os.path.expanduser(text)  # noqa: PTH111  Path's raises for an unknown user


def _csv_path(table: Table, key: str) -> Path:
    """Return where a file for a platform is written; the assignment's file may be a copy of somebody else's."""
    path = _path(table, key)
    if path.suffix.lower() != ".csv":
        raise table.error(f'"{key}" must be the name of a CSV file', key)
    return path


def _choice(*choices: str) -> Callable[[Table, str], str]:
    def read(table: Table, key: str) -> str:
        if (value := table.text(key)) not in choices:
            raise table.error(f'"{key}" must be {" or ".join(choices)}', key)
        return value

    return read


def _lessons(table: Table, key: str) -> str:
    if not (names := table.texts(key)):
        raise table.error(f'"{key}" names no lesson', key)
    return ",".join(names)


def _seed(table: Table, key: str) -> int:
    return 0 if table.data[key] == 0 and table.data[key] is not False else table.whole(key)


def _weights(table: Table, key: str) -> dict[str, float]:
    weights = table.table(key).data
    for name, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not MIN_WEIGHT <= weight <= MAX_WEIGHT:
            raise table.error(f'the weight of "{name}" must be a number from {MIN_WEIGHT:f} to {MAX_WEIGHT:.0f}', key)
    return weights


def _out_of(table: Table, key: str) -> float:
    if (points := table.number(key)) > MAX_POINTS:
        raise table.error(f'"{key}" must be at most {MAX_POINTS:.0f}', key)
    return points


_READERS: dict[str, Callable[[Table, str], Any]] = {
    "names": Table.text,
    "roster": _path,
    "attempts": _choice(*ATTEMPTS),
    "before": Table.text,
    "lessons": _lessons,
    "seed": _seed,
    "out": _path,
    "weights": _weights,
    "best": Table.whole,
    "missing": _choice("zero", "exclude"),
    "scale": _choice("points", "score"),
    "out_of": _out_of,
}
_EXPORT_READERS = {"canvas": _path, "moodle": _path, "out": _csv_path, "assignment": Table.text, "match_by": Table.text}


def _read_late(table: Table, roster: Path | None) -> LateRule:
    shares = {key: _share(table, key) for key in ("per_day", "at_most") if key in table.data}
    if "per_day" not in shares:
        raise table.error('"per_day" is missing in [late]', "per_day")
    extensions = read_extensions(_path(table, "extensions"), roster) if "extensions" in table.data else ()
    grace = _grace(table) if "grace" in table.data else 0.0
    return LateRule(due=_due(table), grace=grace, extensions=extensions, **shares)


def _share(table: Table, key: str) -> float:
    if (share := table.number(key)) > 1:
        raise table.error(f'"{key}" must be a share of the points, such as 0.1', key)
    return share


def _grace(table: Table) -> float:
    found = re.fullmatch(r"(\d{1,6}) ?([mhd])", table.text("grace"))
    if not found:
        raise table.error('"grace" must be a time such as "15m", "2h" or "1d"', "grace")
    return float(found[1]) * UNITS[found[2]]


def _due(table: Table) -> float:
    when = read_due(table.data.get("due"))
    if when is None:
        raise table.error('"due" must be a time, such as 2026-11-20T23:59:00+01:00', "due")
    return when
