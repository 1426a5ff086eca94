"""Find the learners who may need a hand, those on whom the grader failed, and those whom a regrade changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from grader.record import Previous
from grader.reports.statistics.class_tally import ClassTally, Row
from grader.terminal.text import score_text

MAX_NEEDING_HELP = 25  # listed
HALF = 5.5  # the score of half the points

STUCK = {
    "would-not-import": "{} could not be loaded",
    "timed-out": "{} did not finish in time",
    "out-of-memory": "{} ran out of memory",
    "crashed": "{} ended its process",
}


@dataclass(frozen=True)
class NeedsHelp:
    """A learner who may need a hand, and why."""

    row: Row
    why: str


def needing_help(tally: ClassTally) -> tuple[list[NeedsHelp], int]:
    """Return the learners furthest behind, with the reasons; and how many more there are."""
    found = [NeedsHelp(row, "; ".join(why)) for row in tally.rows if (why := _reasons(tally, row))]
    found.sort(key=lambda learner: -_share_left(learner.row))
    return found[:MAX_NEEDING_HELP], max(0, len(found) - MAX_NEEDING_HELP)


def _reasons(tally: ClassTally, row: Row) -> list[str]:
    lessons = list(tally.lessons)
    by_state: dict[str, list[str]] = {}
    for lesson, state in zip(lessons, row.states, strict=True):
        by_state.setdefault(state, []).append(lesson)
    missing = by_state.get("missing", [])
    why = []
    if len(missing) == len(lessons):
        why.append(f"handed in, could not be read: {row.problem}" if row.is_unreadable else "no file for any lesson")
    elif missing:
        why.append(f"no file for {join_words(missing)}")
    why += [says.format(join_words(by_state[state])) for state, says in STUCK.items() if state in by_state]
    if row.number in tally.undefined:
        why.append(f"{join_words(tally.undefined[row.number])} without what it asks for")
    if row.number in tally.unstarted:
        why.append(f"{join_words(tally.unstarted[row.number])} not begun")
    if row.score is not None and row.score < HALF:
        why.append("less than half of the points so far")
    return why


def _share_left(row: Row) -> float:
    """Return the share of the points not earned yet, without what the grader failed on."""
    parts = [
        1.0 if score is None else (10 - score) / 9
        for state, score in zip(row.states, row.scores, strict=True)
        if score is not None or state == "missing"
    ]
    return fsum(parts) / len(parts) if parts else 0.0


def join_words(words: Sequence[str]) -> str:
    """Join words: `a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def find_failures(tally: ClassTally) -> list[tuple[Row, str]]:
    """Return the submissions on which the grader failed, and the lessons."""
    failed = []
    for row in tally.rows:
        lessons = [name for name, state in zip(tally.lessons, row.states, strict=True) if state == "grader-error"]
        if lessons:
            failed.append((row, join_words(lessons)))
    return failed


# --- a regrade --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RegradeChange:
    """What a regrade changed for one learner."""

    row: Row
    before: float | None
    lessons: str  # `softmax 3.1 → 10.0, block 5.0 → 6.2`

    @property
    def difference(self) -> float | None:
        """By how much the score changed; None if there is none before or now."""
        now = self.row.score
        return None if now is None or self.before is None else round(now - self.before, 1)


def find_changes(tally: ClassTally) -> list[RegradeChange]:
    """Return the learners whose scores a regrade changed, the largest change first."""
    found = [_change(tally, row, row.before) for row in tally.rows if row.before]
    found = [one for one in found if one.lessons or score_text(one.before) != score_text(one.row.score)]
    return sorted(found, key=lambda change: -abs(change.difference or 0))


def _change(tally: ClassTally, row: Row, before: Previous) -> RegradeChange:
    old = before.lessons
    pairs = [(name, old.get(name), new) for name, new in zip(tally.lessons, row.scores, strict=True)]
    words = [f"{name} {score_text(was)} → {score_text(now)}" for name, was, now in pairs if name in old and was != now]
    return RegradeChange(row, before.score, ", ".join(words))
