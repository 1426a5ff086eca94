"""What each record gives for one column of a learning platform's gradebook: a share of its points, or why it has none.

    by default      share = score / 10, of a lesson or of the whole submission: 10.0 is all the points, 1.0 a tenth
    from_points     share = points earned / points possible; of a whole submission the mean of its lessons' shares

Nothing becomes a zero by itself. A lesson that was not handed in, and one on which the grader failed, give no share;
with `missing_as_zero` the first counts as zero, the second never does. Nor does work that was handed in and could not
be read, such as a damaged archive: somebody has to look at it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from grader.reports.record_view import BEST, points_of, unreadable

NOT_HANDED_IN = "not handed in"
NOT_READ = "handed in, could not be read"
GRADER_FAILED = "the grader itself failed on it"


@dataclass(frozen=True)
class Rule:
    """Which column: one lesson, or "" for the whole submission; and how its score becomes a share."""

    lesson: str = ""
    from_points: bool = False
    missing_as_zero: bool = False


@dataclass(frozen=True)
class Mark:
    """One record's share of the points (0 to 1); None with the reason why it gives none."""

    id: str
    learner: str
    name: str
    attempt: int
    share: float | None
    why: str = ""

    @property
    def shown(self) -> str:
        return f"{self.name} ({self.id})" if self.name and self.name != self.id else self.id


def marks_of(records: Iterable[Mapping[str, Any]], rule: Rule, missing: Iterable[Mapping[str, str]] = ()) -> list[Mark]:
    """A mark for each record and for the others of its group, who have none of their own; and for each entry of the
    roster (`missing`: "id", "name") without a hand-in."""
    own: list[Mark] = []
    shared: list[Mark] = []
    for record in records:
        mark = _mark(record, rule)
        own.append(mark)
        shared += [replace(mark, id=other, learner=other, name="") for other in record.get("together", ())]
    alone = {mark.learner for mark in own}
    share = 0.0 if rule.missing_as_zero else None
    none = [Mark(entry["id"], entry["id"], entry.get("name", ""), 0, share, NOT_HANDED_IN) for entry in missing]
    return own + [mark for mark in shared if mark.learner not in alone] + none


def _mark(record: Mapping[str, Any], rule: Rule) -> Mark:
    share, why = _share(record, rule)
    learner = record.get("learner") or record["id"]
    return Mark(record["id"], learner, record.get("name") or "", record.get("attempt") or 1, share, why)


def _share(record: Mapping[str, Any], rule: Rule) -> tuple[float | None, str]:
    reason = unreadable(record)
    if reason:
        return None, f"{NOT_READ}: {reason}"
    names = [rule.lesson] if rule.lesson else list(record["lessons"])
    shares: list[float] = []
    missing: list[str] = []
    for name in names:
        lesson = record["lessons"].get(name, {"state": "missing"})
        if lesson["state"] == "grader-error":
            return None, GRADER_FAILED
        share = None if lesson["state"] == "missing" else _lesson_share(lesson, rule.from_points)
        if share is None:
            missing.append(name)
        shares.append(share or 0.0)
    if missing and not rule.missing_as_zero:
        return None, NOT_HANDED_IN if rule.lesson or len(missing) == len(names) else f"without {', '.join(missing)}"
    whole = not rule.lesson and not rule.from_points and not missing
    # the submission's own score where there is one: it is rounded, and what everything else shows
    return (record["score"] / BEST if whole else sum(shares) / len(shares)), ""


def _lesson_share(lesson: Mapping[str, Any], from_points: bool) -> float | None:
    if not from_points:
        return None if lesson["score"] is None else float(lesson["score"]) / BEST
    earned, possible = points_of({"": lesson})
    return earned / possible if possible else None
