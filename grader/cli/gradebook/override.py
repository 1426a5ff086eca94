"""`grader override`: a human's score of a lesson, in place of the program's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.lesson_parameters import graded_lesson
from grader.cli.options import json_option
from grader.cli.output import put_json
from grader.errors import UsageError
from grader.files import at
from grader.intake.learner import shorten
from grader.model import SCHEMA
from grader.terminal.console import put, warn, wrap
from grader.terminal.text import clean, plural

if TYPE_CHECKING:
    from grader.batch.results import Results
    from grader.model import Override

FILE = click.Path(path_type=Path)
HOW = "grader override DIR ID --lesson L --score S --say WHY"
HEADINGS = "name its columns in the first line: id,lesson,score,say,by"


@click.command("override")
@click.argument("results", metavar="DIR", type=FILE)
@click.argument("hand_in", metavar="[ID]", required=False)
@click.option("--lesson", metavar="L", help="The lesson; may be left out if there is only one.")
@click.option("--score", metavar="S", help="Its score, from 0 to 10, with one decimal at most.")
@click.option("--say", default="", metavar="WHY", help="Why; the learner reads it.")
@click.option("--by", default="", metavar="WHO", help="Who says so; the learner reads that, too.")
@click.option("--csv", "table", type=FILE, metavar="FILE", help="Many at once: a CSV with id, lesson, score, say, by.")
@click.option("--undo", is_flag=True, help="Let the program's score count again; with --csv, of all in the table.")
@click.option("--list", "list_only", is_flag=True, help="Show what was said.")
@json_option
def command(
    results: Path, hand_in: str | None, table: Path | None, undo: bool, list_only: bool, as_json: bool, **said: str
) -> None:
    """Give lessons in DIR scores in place of the program's.

    ID is that of the hand-in, as gradebook.csv has it. The program's score is kept, and shown beside yours to the
    learner, in the report and by `grader export`. Whatever is graded later leaves yours in force, and says so if the
    work has changed since. A score of 0 is worth no points.

    \b
    Example:
      grader override results 41173 --lesson softmax --score 10 --say "was softmax.py.txt" --by kim
      grader override results --csv overrides.csv
      grader override results --list
      grader override results 41173 --lesson softmax --undo
      grader override results --csv overrides.csv --undo
    """
    given = {f"--{name}" for name, text in said.items() if text} | ({"--undo"} if undo else set())
    given |= ({"ID"} if hand_in else set()) | ({"--csv"} if table else set())
    _refuse_mixture(given, list_only=list_only)
    if not list_only:
        _change(results, hand_in, table, undo, said)
    _show(results, as_json)


def _refuse_mixture(given: set[str], *, list_only: bool) -> None:
    """Raise UsageError if, of what is given, a part would not be obeyed."""
    if list_only and given:
        raise UsageError(
            f"--list takes no {min(given)}: it shows what was said", next_step="grader override DIR --list"
        )
    in_table = given & {"ID", "--lesson", "--score", "--say", "--by"} if "--csv" in given else set()
    if in_table:
        what = f"--csv takes no {min(in_table)}: the table's lines say that"
        raise UsageError(what, next_step=f"grader override DIR --csv FILE, or {HOW}")
    if "--undo" in given and (said := given & {"--score", "--say"}):
        raise UsageError(f"--undo takes no {min(said)}", next_step="grader override DIR ID --lesson L --undo")


def _change(results: Path, hand_in: str | None, table: Path | None, undo: bool, said: dict[str, str]) -> None:
    """Keep what is said, all of it or nothing, and write the files of those whom it concerns."""
    from grader.batch.results import open_results

    if (table is None) == (hand_in is None):
        raise UsageError("whose score is it?", next_step=f"{HOW}, or --csv FILE, or --list")
    with closing(open_results(results)) as opened:
        if table is not None:
            changes = _read_changes(opened, table, undo=undo)
        else:
            row = {"id": hand_in or "", **said}
            changes = [_override(opened, "", row, undo=undo)]
        taken_back = [_taken_back(opened, *change[:2]) for change in changes] if undo else []
        opened.override(changes)
        opened.write_learners({name for name, _, _ in changes})
        opened.write_class()
    for text in taken_back:
        put(text)


def _taken_back(opened: Results, hand_in: str, lesson: str) -> str:
    """Say which score a human takes back, before it is."""
    said = opened.overrides[hand_in][lesson]
    return wrap(clean(f"Taken back: {hand_in}, {lesson}: {said.score:.1f}, “{said.says}”"))


def _read_changes(opened: Results, table: Path, *, undo: bool) -> list[tuple[str, str, Override]]:
    """Return what the lines of a table say. Raises UsageError, for two of one hand-in and lesson as well."""
    changes, lines = [], dict[tuple[str, str], str]()
    for where, row in _read_table(table, ("id",) if undo else ("id", "score", "say")):
        hand_in, lesson, said = _override(opened, where, row, undo=undo)
        if (first := lines.setdefault((hand_in, lesson), where)) != where:
            what = f"{shorten(hand_in)} has a score of {lesson} in another line as well, {first}"
            raise UsageError(what, where=where, next_step="leave one of the two lines, then repeat the command")
        changes.append((hand_in, lesson, said))
    return changes


def _override(opened: Results, where: str, row: dict[str, str], *, undo: bool = False) -> tuple[str, str, Override]:
    """Return what one line says: id, lesson and override. Raises UsageError, with *where* it stands."""
    from grader.batch.results_folder import utc_now
    from grader.model import Override
    from grader.reports.gradebook.fill_column import parse_number
    from grader.store.class_store import MAX_SAID_CHARS

    hand_in, says, by = row["id"], *(_said(row[key], where or f"--{key}") for key in ("say", "by"))
    if where and hand_in.startswith("'") and hand_in[1:] in opened.states:  # as gradebook.csv has what looks a formula
        if hand_in in opened.states:
            what = f"{shorten(hand_in)} and {shorten(hand_in[1:])} are two hand-ins, which a spreadsheet shows alike"
            raise UsageError(what, where=where, next_step="grader override DIR ID, with one of them")
        hand_in = hand_in[1:]
    state = opened.states.get(hand_in)
    if state is None or not state.listed:
        if any(one["id"] == hand_in for one in opened.facts["found"]["missing"]):
            what = (
                f'"{shorten(hand_in)}" is on the roster and handed nothing in, so there is nothing to give a score for'
            )
            raise UsageError(what, where=where, next_step="give the grade at the platform, or in the exported file")
        what = f'there is no hand-in "{shorten(hand_in)}"{_guess(opened, hand_in)}'
        raise UsageError(what, where=where, next_step=HOW)
    lesson = graded_lesson(row["lesson"] or None, opened.settings["lessons"], where)
    if not lesson:
        names = ", ".join(opened.settings["lessons"])
        raise UsageError("which lesson is it?", where=where, next_step=f"--lesson with one of: {names}")
    if undo:
        if lesson not in opened.overrides.get(hand_in, {}):
            what = f"nobody has given {shorten(hand_in)} a score of {lesson}"
            raise UsageError(what, where=where, next_step="grader override DIR --list")
        return hand_in, lesson, Override(None, "", by, utc_now(), state.digest)
    score = parse_number((row["score"] or "").strip())
    if score is None or not 0 <= score <= 10 or score != round(score, 1):  # another one than is shown would count
        what = f"{shorten(row['score'] or 'nothing')} is no score"
        raise UsageError(what, where=where, next_step="a number from 0 to 10, with one decimal at most")
    if not says or max(len(says), len(by)) > MAX_SAID_CHARS:
        what = f"a reason of at most {MAX_SAID_CHARS} characters is needed"
        raise UsageError(what, where=where, next_step='--say "why", or the column say')
    return hand_in, lesson, Override(score, says, by, utc_now(), state.digest)


def _said(text: str, where: str) -> str:
    """Return a human's words in one line, without signs that nobody sees, which are told with *where* they stand."""
    text = " ".join(text.split())
    kept = " ".join(clean(text).split())
    if kept.replace(" ", "") != text.replace(" ", ""):
        warn(f"{where}: of what is said, signs that cannot be shown were left out")
    return kept


def _guess(opened: Results, hand_in: str) -> str:
    close = opened.suggest_ids(hand_in)
    return f"; did you mean {clean(' or '.join(close))}?" if close else ""


def _read_table(path: Path, needed: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the lines of a CSV file, each with its place. Raises UsageError, without a *needed* column too."""
    from grader.reports.gradebook.csv_sheet import read_sheet

    sheet = read_sheet(path, "name a CSV file with the columns id, lesson, score, say, by")
    if sheet.note:
        warn(sheet.note)
    columns = {name: sheet.find_column(name) for name in ("id", "lesson", "score", "say", "by")}
    for name in needed:
        if columns[name] is None:
            raise UsageError(f"there is no column {name}", where=str(path), next_step=HEADINGS)
    # what is said is kept whole, or refused for its length
    read = {"id": sheet.identifier, "say": sheet.text_of, "by": sheet.text_of}
    for row in range(sheet.header_row + 1, len(sheet.rows)):
        if any(cell.value.strip() for cell in sheet.rows[row]):
            known = {name: place for name, place in columns.items() if place is not None}
            values = {name: read.get(name, sheet.value)(row, place) for name, place in known.items()}
            yield at(path, sheet.line(row)), dict.fromkeys(columns, "") | values


def _show(results: Path, as_json: bool) -> None:
    """Print what was said of whom."""
    from grader.batch.results import read_results
    from grader.reports.record_view import override_texts

    _, records = read_results(results)
    given = [record for record in records if record.overrides]
    if as_json:
        listed = [
            {"id": one.id, "name": one.name, "lesson": lesson, **vars(said)}
            for one in given
            for lesson, said in one.overrides.items()
        ]
        put_json({"schema": SCHEMA, "overrides": listed})
        return
    put(f"{plural(sum(len(one.overrides) for one in given), 'score')} given by a human.")
    for record in given:
        for text in override_texts(record):
            put(wrap(clean(f"{record.label}: {text}"), 2))
