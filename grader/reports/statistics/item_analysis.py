"""Item analysis: how many pass each check, and whether they do well on the rest of the lesson.

An *item* is a check as it is listed: one that runs on several inputs is one item, passed if every input that ran
passed.

- A check that was *skipped*, because one that it needs had failed, was not tried and counts in neither number of
  "passed 20 of 25": as a failure it would measure the check it waited for. It costs its points in the score.
- A check on which the grader failed ("grader-error") was not tried either.
- The *rest* is the share of the points earned on the lesson's other checks that ran. So a check cannot correlate with
  those that it kept from running.

Below MIN_TRIED learners there are counts only: shares and coefficients of few are chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, sqrt

from grader.model import CheckResult

Z95 = 1.959963984540054  # standard normal quantile at 0.975
MIN_TRIED = 30  # learners who tried a check, for anything but counts
MIN_EACH = 5  # who passed and who did not, for a coefficient
LOW = 0.2  # below it a check hardly discriminates (Ebel's rule for classroom tests)

NOT_TRIED = ("skipped", "grader-error")

FLAGS = {
    "nobody": "Nobody who ran it passes: look at the check and at the lesson's text before looking at anyone's code.",
    "negative": "Those who pass it do worse on the rest of the lesson: it may reject right answers.",
    "low": "Passing it says little about the rest of the lesson: it asks for something else, or it is luck.",
    "everybody": "Everybody who ran it passes: it tells nobody apart, though it may still guard a basic.",
}

# The checks of one lesson of one learner: their ids, their outcomes, the points earned.
Pattern = tuple[tuple[str, ...], tuple[str, ...], tuple[float, ...]]


@dataclass(frozen=True)
class Item:
    """How a class did on one item. `interval` and `rest` are None if too few tried it."""

    id: str
    function: str
    says: str
    skill: str
    inputs: int  # checks that make this item
    passed: int
    tried: int
    skipped: int
    spoiled: int  # the grader failed
    interval: tuple[float, float] | None = None
    rest: float | None = None

    @property
    def share(self) -> float | None:
        """The share that passed of those who tried, if anybody did."""
        return self.passed / self.tried if self.tried else None

    @property
    def flag(self) -> str:
        """A key of FLAGS, or ""."""
        if not self.tried:
            return ""
        if self.passed in (0, self.tried):
            return "everybody" if self.passed else "nobody"
        if self.rest is None or self.rest >= LOW:
            return ""
        # of a coefficient of 0 the standard error is 1 / sqrt(n - 1)
        return "negative" if self.rest < -Z95 / sqrt(self.tried - 1) else "low"


def wilson_interval(passed: int, tried: int, z: float = Z95) -> tuple[float, float]:
    """Compute Wilson's score interval for a share, without continuity correction (1927). Raises ValueError."""
    if not 0 <= passed <= tried or not tried:
        raise ValueError(f"{passed} of {tried} is no share")
    share, square = passed / tried, z * z
    centre = (share + square / (2 * tried)) / (1 + square / tried)
    half = z / (1 + square / tried) * sqrt(share * (1 - share) / tried + square / (4 * tried * tried))
    low = 0.0 if passed == 0 else max(0.0, centre - half)
    high = 1.0 if passed == tried else min(1.0, centre + half)
    return min(low, share), max(high, share)


def correlation(points: Sequence[tuple[float, float, int]]) -> float | None:
    """Compute Pearson's coefficient of (x, y, how often); None if x or y does not vary."""
    if len({x for x, _, _ in points}) < 2 or len({y for _, y, _ in points}) < 2:
        return None
    total = sum(often for _, _, often in points)
    mean_x = fsum(x * often for x, _, often in points) / total
    mean_y = fsum(y * often for _, y, often in points) / total
    both = fsum((x - mean_x) * (y - mean_y) * often for x, y, often in points)
    spread_x = fsum((x - mean_x) ** 2 * often for x, _, often in points)
    spread_y = fsum((y - mean_y) ** 2 * often for _, y, often in points)
    if not spread_x or not spread_y:  # differences that vanish when squared
        return None
    return max(-1.0, min(1.0, both / sqrt(spread_x) / sqrt(spread_y)))


def correlate_if_enough(points: Sequence[tuple[float, float, int]], passed: float) -> float | None:
    """Compute the coefficient; None for fewer than MIN_TRIED learners, or than MIN_EACH who passed or did not."""
    total = sum(often for _, _, often in points)
    if total < MIN_TRIED or min(passed, total - passed) < MIN_EACH:
        return None
    return correlation(points)


def analyse(checks: Mapping[str, CheckResult], patterns: Mapping[Pattern, int]) -> list[Item]:
    """Analyse the items of one lesson, in the order of its checks, from how often each pattern occurs."""
    counts = {item: _Counts(group) for item, group in _group(checks.values()).items()}
    layouts: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for (ids, outcomes, earned), often in patterns.items():
        layout = layouts.get(ids)
        if layout is None:
            layout = layouts[ids] = _layout(ids)
        ran = [outcome not in NOT_TRIED for outcome in outcomes]
        points = [checks[id_].points if there else 0.0 for id_, there in zip(ids, ran, strict=True)]
        got = [mark if there else 0.0 for mark, there in zip(earned, ran, strict=True)]
        all_points, all_got = fsum(points), fsum(got)
        for item, indices in layout.items():
            others = all_points - fsum(points[index] for index in indices)
            own = fsum(got[index] for index in indices)
            # rounded, so that equal shares reached by other sums are equal
            rest = round((all_got - own) / others, 9) if others > 1e-9 else None
            counts[item].add([outcomes[index] for index in indices], rest, often)
    return [count.item(id_) for id_, count in counts.items()]


@dataclass
class _Counts:
    """The counts of one item, pattern by pattern."""

    checks: list[CheckResult]
    passed: int = 0
    tried: int = 0
    skipped: int = 0
    spoiled: int = 0
    beside: list[tuple[float, float, int]] = field(default_factory=list)  # (passed or not, the rest, how often)

    def add(self, outcomes: Sequence[str], rest: float | None, often: int) -> None:
        ran = [outcome == "passed" for outcome in outcomes if outcome not in NOT_TRIED]
        if not ran or (all(ran) and "grader-error" in outcomes):
            self.spoiled += often if "grader-error" in outcomes else 0
            self.skipped += often if "grader-error" not in outcomes else 0
            return
        self.tried += often
        self.passed += often if all(ran) else 0
        if rest is not None:
            self.beside.append((float(all(ran)), rest, often))

    def item(self, id_: str) -> Item:
        first = self.checks[0]
        interval = wilson_interval(self.passed, self.tried) if self.tried >= MIN_TRIED else None
        counts = self.passed, self.tried, self.skipped, self.spoiled
        rest = correlate_if_enough(self.beside, sum(often for passed, _, often in self.beside if passed))
        return Item(id_, first.function, first.says, first.skill, len(self.checks), *counts, interval, rest)


def item_of(check_id: str) -> str:
    """Return the item that a check belongs to: ids of one check on several inputs differ in their brackets only."""
    return check_id.partition("[")[0]


def _group(checks: Iterable[CheckResult]) -> dict[str, list[CheckResult]]:
    groups: dict[str, list[CheckResult]] = {}
    for check in checks:
        groups.setdefault(item_of(check.id), []).append(check)
    return groups


def _layout(ids: Sequence[str]) -> dict[str, list[int]]:
    """Return the positions of each item's checks."""
    indices: dict[str, list[int]] = {}
    for index, check_id in enumerate(ids):
        indices.setdefault(item_of(check_id), []).append(index)
    return indices
