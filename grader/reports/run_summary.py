"""What a run over a class came to, in a few lines: for everything else there are its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.model import SCHEMA
from grader.reports.plain import clean, counted, score_text

FINE = ("graded", "missing")
MOST_LOOKS = 20


@dataclass
class RunSummary:
    """Counts over the submissions of a run. `looks` are those that a human should look at: (id, why)."""

    seed: int
    submissions: int = 0
    incomplete: int = 0
    scores: list[float] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)  # of lessons
    looks: list[tuple[str, str]] = field(default_factory=list)

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one submission of results.json."""
        self.submissions += 1
        self.incomplete += not record["complete"]
        self.states.update(record["states"])
        if record["score"] is not None:
            self.scores.append(record["score"])
        if why := trouble_of(record):
            self.looks.append((record["id"], why))

    @property
    def mean(self) -> float | None:
        """The mean of the submissions' scores, to one decimal."""
        return round(sum(self.scores) / len(self.scores), 1) if self.scores else None


def trouble_of(record: Mapping[str, Any]) -> str:
    """Why a human should look at this submission; empty if nobody need."""
    names = [f"{name} {lesson['state']}" for name, lesson in record["lessons"].items() if lesson["state"] not in FINE]
    return record["problem"] or ", ".join(names)


def sentence(summary: RunSummary) -> str:
    """The whole run in one sentence."""
    incomplete = f", {summary.incomplete} of them incomplete" if summary.incomplete else ""
    mean = f"mean score {score_text(summary.mean)}{incomplete}" if summary.scores else "no score"
    return f"{counted(summary.submissions, 'submission')} graded (seed {summary.seed}): {mean}."


def looks(summary: RunSummary) -> list[str]:
    """The submissions to look at, one to a line."""
    lines = [clean(f"{name}: {why}").replace("\n", " ") for name, why in summary.looks[:MOST_LOOKS]]
    more = len(summary.looks) - MOST_LOOKS
    return [*lines, *([f"... and {more} more; see the column of states in the gradebook"] if more > 0 else [])]


def to_object(summary: RunSummary) -> dict[str, Any]:
    """The documented object of `grader run --json`."""
    return {
        "schema": SCHEMA,
        "seed": summary.seed,
        "submissions": summary.submissions,
        "incomplete": summary.incomplete,
        "mean": summary.mean,
        "states": dict(summary.states),
        "look_at": [{"id": name, "why": why} for name, why in summary.looks],
    }
