"""What a run over a class came to, in a few lines: for everything else there are its files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from grader.model import SCHEMA
from grader.record import Record
from grader.terminal.text import PLAIN_SIGNS, Signs, clean, plural, score_text

FINE = ("graded", "missing")
MOST_LOOKS, MOST_CHANGES = 20, 60

Scores = tuple[float | None, float | None]  # before and after


@dataclass(frozen=True)
class Change:
    """What became of a score when the same work was graded again: the whole, and each lesson that is not as it was."""

    id: str
    before: float | None
    after: float | None
    lessons: dict[str, Scores]


@dataclass
class RunSummary:
    """Counts over the submissions of a run. `looks` are those that a human should look at: (id, name, why). `again`
    counts the submissions that were graded again in this run, of which `changes` have another score than before.
    `unfinished` of all that are `expected` have no result yet, or wait for a new one."""

    seed: int
    submissions: int = 0
    incomplete: int = 0
    scores: list[float] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)  # of lessons
    looks: list[tuple[str, str, str]] = field(default_factory=list)
    unfinished: int = 0
    expected: int = 0
    again: int = 0
    changes: list[Change] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """Count one submission of results.json; its details may be left out."""
        self.submissions += 1
        self.incomplete += not record.complete
        self.states.update(record.states)
        if record.score is not None:
            self.scores.append(record.score)
        if why := trouble_of(record):
            self.looks.append((record.id, record.name, why))

    def compare(self, record: Record) -> None:
        """Count one that was graded in this run, if it had been graded before."""
        before = record.previous
        if before is None:
            return
        self.again += 1
        lessons = {name: (before.lessons.get(name), lesson.score) for name, lesson in record.lessons.items()}
        changed = {name: pair for name, pair in lessons.items() if _differ(pair)}
        if changed or _differ((before.score, record.score)):
            self.changes.append(Change(record.id, before.score, record.score, changed))

    @property
    def mean(self) -> float | None:
        """The mean of the submissions' scores, to one decimal."""
        return round(sum(self.scores) / len(self.scores), 1) if self.scores else None


def trouble_of(record: Record) -> str:
    """Why a human should look at this submission; empty if nobody need."""
    names = [f"{name} {lesson.state}" for name, lesson in record.lessons.items() if lesson.state not in FINE]
    return record.problem or ", ".join(names)


def sentence(summary: RunSummary) -> str:
    """The whole run in one sentence."""
    incomplete = f", {summary.incomplete} of them incomplete" if summary.incomplete else ""
    mean = f"mean score {score_text(summary.mean)}{incomplete}" if summary.scores else "no score"
    return f"{plural(summary.submissions, 'submission')} graded (seed {summary.seed}): {mean}."


def lack(summary: RunSummary) -> str:
    """What is to be said where not all were graded; empty where all were."""
    if not summary.unfinished:
        return ""
    were = "was" if summary.unfinished == 1 else "were"
    return f"{summary.unfinished} of {summary.expected} {were} not graded: go on with --resume."


def looks(summary: RunSummary) -> list[str]:
    """The submissions to look at, one to a line."""
    shown = [(f"{own} {name}" if name else own, why) for own, name, why in summary.looks[:MOST_LOOKS]]
    lines = [clean(f"{whose}: {why}").replace("\n", " ") for whose, why in shown]
    more = len(summary.looks) - MOST_LOOKS
    return [*lines, *([f"... and {more} more; see the column of states in the gradebook"] if more > 0 else [])]


def changes(summary: RunSummary, signs: Signs = PLAIN_SIGNS) -> list[str]:
    """What grading again has changed: a sentence, then a line for each score, in columns."""
    if not summary.again:
        return []
    if not summary.changes:
        return [f"None of {plural(summary.again, 'score')} changed."]
    shown = sorted(summary.changes, key=lambda change: change.id)[:MOST_CHANGES]
    width = max(len(clean(change.id)) for change in shown)
    lines = [f"{len(summary.changes)} of {plural(summary.again, 'score')} changed:"]
    for change in shown:
        parts = [f"{name} {_arrow(pair, signs).strip()}" for name, pair in change.lessons.items()]
        whole = _arrow((change.before, change.after), signs)
        lines.append(f"  {clean(change.id):<{width}}  {whole}  {', '.join(parts)}".rstrip())
    more = len(summary.changes) - len(shown)
    return [*lines, *([f"  ... and {more} more: --json has them all"] if more else [])]


def _differ(pair: Scores) -> bool:
    """Whether two scores differ as they are shown."""
    return score_text(pair[0]) != score_text(pair[1])


def _arrow(pair: Scores, signs: Signs) -> str:
    return f"{score_text(pair[0]):>4} {signs.arrow} {score_text(pair[1]):>4}"


def to_object(summary: RunSummary) -> dict[str, Any]:
    """The documented object of `grader run --json`."""
    changed = [
        {"id": change.id, "before": change.before, "after": change.after, "lessons": change.lessons}
        for change in summary.changes
    ]
    return {
        "schema": SCHEMA,
        "seed": summary.seed,
        "submissions": summary.submissions,
        "incomplete": summary.incomplete,
        "unfinished": summary.unfinished,
        "mean": summary.mean,
        "states": dict(summary.states),
        "look_at": [{"id": own, "name": name, "why": why} for own, name, why in summary.looks],
        "again": {"graded": summary.again, "changed": changed},
    }
