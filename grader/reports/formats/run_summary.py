"""Sum up a run over a class in a few lines; its files say everything else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.model import SCHEMA
from grader.record import GRADED_OTHERWISE, Record, count_statuses, tell_scored
from grader.terminal.text import PLAIN_SIGNS, Signs, clean, plural, score_text

FINE = ("graded", "missing")
MAX_TO_LOOK_AT, MAX_CHANGES = 20, 60  # lines

Scores = tuple[float | None, float | None]  # before and after


@dataclass(frozen=True)
class ScoreChange:
    """A score that changed when the same work was graded again: the whole, and each lesson that changed."""

    id: str
    before: float | None
    after: float | None
    lessons: dict[str, Scores]
    name: str = ""


@dataclass
class RunSummary:
    """Counts over the submissions of a run."""

    seed: int
    submissions: int = 0
    incomplete: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    scores: list[float] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)  # of lessons
    to_look_at: list[tuple[str, str, str]] = field(default_factory=list)  # for a human: id, name, why
    lacking: list[str] = field(default_factory=list)  # "WHO: LESSONS" without a file, of whoever has others
    unfinished: int = 0  # without a result, or waiting for a new one
    expected: int = 0
    overridden: int = 0  # scores of lessons that a human gave
    of_earlier: int = 0  # of these, to another hand-in than the present one
    regraded: int = 0  # in this run
    changes: list[ScoreChange] = field(default_factory=list)  # of those regraded
    outdated: list[str] = field(default_factory=list)  # "WHO: LESSONS" of results that were not graded again with these

    def add(self, record: Record) -> None:
        """Count one submission; a summary of its record is enough."""
        self.submissions += 1
        self.incomplete += not record.complete
        self.statuses[record.status] += 1
        self.states.update(record.states)
        self.overridden += len(record.overrides)
        self.of_earlier += sum(one.digest != record.digest for one in record.overrides.values())
        if record.score is not None:
            self.scores.append(record.score)
        if why := find_trouble(record):
            self.to_look_at.append((record.id, record.name, why))
        lacking = [name for name, lesson in record.lessons.items() if lesson.state == "missing"]
        if lacking and len(lacking) < len(record.lessons):
            self.lacking.append(f"{record.name or record.id}: {', '.join(lacking)}")

    def compare(self, record: Record) -> None:
        """Count a submission graded in this run, if it had been graded before."""
        before = record.previous
        if before is None:
            return
        self.regraded += 1
        old = [name for name, lesson in record.lessons.items() if GRADED_OTHERWISE in lesson.notes]
        self.outdated += [f"{record.name or record.id}: {', '.join(old)}"] if old else []
        lessons = {name: (before.lessons.get(name), lesson.score) for name, lesson in record.lessons.items()}
        changed = {name: pair for name, pair in lessons.items() if _differ(pair)}
        if changed or _differ((before.score, record.score)):
            self.changes.append(ScoreChange(record.id, before.score, record.score, changed, record.name))

    @property
    def mean(self) -> float | None:
        """Return the mean of the submissions' scores, to one decimal."""
        return round(sum(self.scores) / len(self.scores), 1) if self.scores else None


def find_trouble(record: Record) -> str:
    """Return why a human should look at this submission, or ""."""
    names = [f"{name} {lesson.state}" for name, lesson in record.lessons.items() if lesson.state not in FINE]
    return record.problem or ", ".join(names)


def sentence(summary: RunSummary) -> str:
    """Sum up the run in one sentence."""
    some = tell_scored(len(summary.scores), summary.submissions)
    mean = f"mean score {score_text(summary.mean)}{some}" if summary.scores else "no score"
    counts = count_statuses(summary.statuses.elements())
    return (
        f"{plural(summary.submissions, 'submission')} (seed {summary.seed}): {f'{counts}; ' if counts else ''}{mean}."
    )


def unfinished_line(summary: RunSummary) -> str:
    """Say how many were not graded; "" if all were."""
    if not summary.unfinished:
        return ""
    were = "was" if summary.unfinished == 1 else "were"
    return f"{summary.unfinished} of {summary.expected} {were} not graded: go on with --resume."


def lacking_line(summary: RunSummary) -> str:
    """Say who has no file for some of the lessons; "" if nobody."""
    return clean(f"No file for some lessons: {_join(summary.lacking)}.") if summary.lacking else ""


def overridden_line(summary: RunSummary) -> str:
    """Say how many scores a human gave; "" if none."""
    if not summary.overridden:
        return ""
    earlier = f", {summary.of_earlier} of them to an earlier hand-in" if summary.of_earlier else ""
    return f"{plural(summary.overridden, 'score')} of lessons given by a human{earlier} (grader override --list)."


def outdated_line(summary: RunSummary) -> str:
    """Say which results of lessons are of another course than the rest; "" if none."""
    if not summary.outdated:
        return ""
    what = "Graded with another course or other settings, and not again: their files are not among these hand-ins"
    return clean(f"{what} ({_join(summary.outdated)}).")


def _join(whose: Sequence[str]) -> str:
    """Join the first of these, and say how many more there are."""
    more = len(whose) - MAX_TO_LOOK_AT
    return "; ".join(whose[:MAX_TO_LOOK_AT]) + (f"; and {more} more" if more > 0 else "")


def look_at_lines(summary: RunSummary) -> list[str]:
    """List the submissions to look at, one a line."""
    shown = [(f"{own} {name}" if name else own, why) for own, name, why in summary.to_look_at[:MAX_TO_LOOK_AT]]
    lines = [clean(f"{whose}: {why}").replace("\n", " ") for whose, why in shown]
    more = len(summary.to_look_at) - MAX_TO_LOOK_AT
    return [*lines, *([f"... and {more} more; see the column of states in the gradebook"] if more > 0 else [])]


def change_lines(summary: RunSummary, signs: Signs = PLAIN_SIGNS) -> list[str]:
    """List what grading again has changed: a sentence, then a line for each score, in columns."""
    if not summary.regraded:
        return []
    if not summary.changes:
        return [f"None of {plural(summary.regraded, 'score')} changed."]
    shown = sorted(summary.changes, key=lambda change: change.id)[:MAX_CHANGES]
    who = [clean(f"{change.id} {change.name}".rstrip()) for change in shown]
    width = max(map(len, who))
    lines = [f"{len(summary.changes)} of {plural(summary.regraded, 'score')} changed:"]
    for change, label in zip(shown, who, strict=True):
        parts = [f"{name} {_arrow(pair, signs).strip()}" for name, pair in change.lessons.items()]
        whole = _arrow((change.before, change.after), signs)
        lines.append(f"  {label:<{width}}  {whole}  {', '.join(parts)}".rstrip())
    more = len(summary.changes) - len(shown)
    return [*lines, *([f"  ... and {more} more: --json has them all"] if more else [])]


def _differ(pair: Scores) -> bool:
    """Return True if two scores differ as they are shown."""
    return score_text(pair[0]) != score_text(pair[1])


def _arrow(pair: Scores, signs: Signs) -> str:
    return f"{score_text(pair[0]):>4} {signs.arrow} {score_text(pair[1]):>4}"


def to_object(summary: RunSummary) -> dict[str, Any]:
    """Return the documented object of `grader run --json`."""
    return {
        "schema": SCHEMA,
        "seed": summary.seed,
        "submissions": summary.submissions,
        "incomplete": summary.incomplete,
        "unfinished": summary.unfinished,
        "mean": summary.mean,
        "overridden": summary.overridden,
        "statuses": dict(summary.statuses),
        "states": dict(summary.states),
        "look_at": [{"id": own, "name": name, "why": why} for own, name, why in summary.to_look_at],
        "again": {"graded": summary.regraded, "changed": [vars(change) for change in summary.changes]},
    }
