"""Print what the results of a class come to, at the end of `run`, `merge` and `report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.context import short_path
from grader.cli.output import put_json
from grader.cli.run_command import OUR_FAULT
from grader.reports.formats.run_summary import (
    RunSummary,
    change_lines,
    lacking_line,
    look_at_lines,
    outdated_line,
    overridden_line,
    sentence,
    to_object,
    unfinished_line,
)
from grader.terminal.console import paint, put, signs, warn, wrap
from grader.terminal.text import clean

if TYPE_CHECKING:
    from grader.batch.results import Results

MAX_NAMES = 8  # in one line


def print_result(results: Results, out: Path, as_json: bool, summary: RunSummary | None = None) -> int:
    """Print the results' summary and return the exit status; `summary` may hold what was graded again."""
    from grader.batch.make_record import with_overrides
    from grader.batch.outputs import parse_record

    summary = summary or RunSummary(results.settings["seed"])
    if results.outputs is not None:  # of a part of a class, the rest is graded elsewhere
        summary.unfinished, summary.expected = results.count_unfinished()
    for record in results.store.summaries(parse_record):
        summary.add(with_overrides(record, results.overrides.get(record.id, {})))
    if lessons := results.facts.get("not_compared"):
        why = "there was too little time or memory, or too many are alike"
        warn(f"not all hand-ins that may be alike were compared, in {some_names(lessons)}: {why}")
    if as_json:
        put_json(to_object(summary) | {"out": str(out)})
    else:
        put(paint(sentence(summary), "strong"))
        lines = (unfinished_line, lacking_line, overridden_line, outdated_line)
        for text in filter(None, (line(summary) for line in lines)):
            put(wrap(text, 0))
        for text in look_at_lines(summary):
            put(wrap(text, 2))
        for line in change_lines(summary, signs()):
            put(line)
        put(clean(_where(results, out)))
    return OUR_FAULT if summary.states.get("grader-error") else 0


def _where(results: Results, out: Path) -> str:
    if results.outputs is None:  # a part of a class
        path = short_path(out.absolute())
        return (
            f"Results in {short_path(results.path.absolute())}. With all parts done: grader merge {path} --out {path}"
        )
    return f"Results in {short_path(out.absolute())}: report.html, gradebook.csv, results.json, feedback/."


def some_names(names: Sequence[str]) -> str:
    """Join the first few names, by semicolons if they hold commas ("Hopper, Grace")."""
    more = len(names) - MAX_NAMES
    between = "; " if any("," in name for name in names[:MAX_NAMES]) else ", "
    return between.join(map(clean, names[:MAX_NAMES])) + (f" and {more} more" if more > 0 else "")
