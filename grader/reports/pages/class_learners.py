"""What a class's tally says of its learners: who may need a hand, on whom the grader failed, what a regrade changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from grader.record import Previous
from grader.reports.statistics.class_tally import ClassTally, Row
from grader.terminal.text import score_text

MOST_HELP = 25
HALF = 5.5  # the score of half the points

STUCK = {
    "would-not-import": "{} could not be loaded",
    "timed-out": "{} did not finish in time",
    "out-of-memory": "{} ran out of memory",
    "crashed": "{} ended its process",
}


@dataclass(frozen=True)
class Hand:
    """A learner who may need a hand, and why, in words."""

    row: Row
    why: str


def hands(tally: ClassTally) -> tuple[list[Hand], int]:
    """Learners who may need a hand, the furthest behind first and of each the heaviest reason; and how many there are
    beyond the first MOST_HELP."""
    found = []
    for row in tally.rows:
        why = _reasons(tally, row)
        if why:
            found.append((_unearned(row), Hand(row, "; ".join(why))))
    found.sort(key=lambda pair: -pair[0])
    return [hand for _, hand in found[:MOST_HELP]], max(0, len(found) - MOST_HELP)


def _reasons(tally: ClassTally, row: Row) -> list[str]:
    lessons = list(tally.lessons)
    by_state: dict[str, list[str]] = {}
    for lesson, state in zip(lessons, row.states, strict=True):
        by_state.setdefault(state, []).append(lesson)
    missing = by_state.get("missing", [])
    why = []
    if len(missing) == len(lessons):
        why.append(f"handed in, could not be read: {row.problem}" if row.unread else "no file for any lesson")
    elif len(missing) >= max(2, len(lessons) / 3):
        why.append(f"no file for {in_words(missing)}")
    why += [says.format(in_words(by_state[state])) for state, says in STUCK.items() if state in by_state]
    if row.number in tally.undefined:
        why.append(f"{in_words(tally.undefined[row.number])} without what it asks for")
    if row.number in tally.unstarted:
        why.append(f"{in_words(tally.unstarted[row.number])} not begun")
    if row.score is not None and row.score < HALF:
        why.append("less than half of the points so far")
    return why


def _unearned(row: Row) -> float:
    """The share of the points that are still to be had; what the grader itself failed on is left out."""
    parts = [
        1.0 if score is None else (10 - score) / 9
        for state, score in zip(row.states, row.scores, strict=True)
        if score is not None or state == "missing"
    ]
    return fsum(parts) / len(parts) if parts else 0.0


def in_words(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def find_failures(tally: ClassTally) -> list[tuple[Row, str]]:
    """Submissions on which the grader itself failed, and on which lessons."""
    failed = []
    for row in tally.rows:
        lessons = [name for name, state in zip(tally.lessons, row.states, strict=True) if state == "grader-error"]
        if lessons:
            failed.append((row, in_words(lessons)))
    return failed


# --- a regrade --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """What a regrade changed for one learner."""

    row: Row
    before: float | None
    lessons: str  # `softmax 3.1 → 10.0, block 5.0 → 6.2`

    @property
    def difference(self) -> float | None:
        """Points of the score, up or down; None where one of the two is no score."""
        now = self.row.score
        return None if now is None or self.before is None else round(now - self.before, 1)


def changes(tally: ClassTally) -> list[Change]:
    """The learners whose scores a regrade changed, the largest change first."""
    found = [_change(tally, row, row.before) for row in tally.rows if row.before]
    found = [change for change in found if change.lessons or change.difference != 0]
    return sorted(found, key=lambda change: -abs(change.difference or 0))


def _change(tally: ClassTally, row: Row, before: Previous) -> Change:
    old = before.lessons
    pairs = [(name, old.get(name), new) for name, new in zip(tally.lessons, row.scores, strict=True)]
    words = [f"{name} {score_text(was)} → {score_text(now)}" for name, was, now in pairs if name in old and was != now]
    return Change(row, before.score, ", ".join(words))
