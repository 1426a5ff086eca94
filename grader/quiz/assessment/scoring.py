"""Score checked answers, with an interval. Every step is a formula that can be printed and done by hand.

An item has a credit k from 0 to 1 and a guess rate g, what guessing earns on average. For n items of a topic

    t = (mean k - mean g) / (1 - mean g - SLIP)

is the share that is known: 0 for guessing everything, 1 for knowing everything and slipping as people do. The score is
10 times the mean of t over the topics that have enough items. Its 90% interval is

    +- 1.645 * 10 / T * sqrt(sum of v),    v = p (1 - p) / n / (1 - mean g - SLIP)^2,    p = (sum k + 1) / (n + 2)

Averaging Bayesian estimates of each topic would pull every score to the middle: with 3 items a topic a true 9 is shown
as 7 (benchmarks/assessment.py repeats the experiment).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SLIP = 0.03  # how often a learner who knows is wrong
MIN_ITEMS = 3  # for a topic to be covered
MIN_TOPICS = 6  # for a score over all
Z90 = 1.645
SCALE = 10.0

SOLID, UNSURE, WEAK = "solid", "unsure", "weak"
SOLID_FROM, WEAK_BELOW, SURE_ENOUGH = 0.7, 0.5, 0.8
GRID = 401


@dataclass(frozen=True)
class Item:
    """One checked answer. `whole`: only full credit counts towards "solid"."""

    credit: float
    guess: float
    whole: bool = False


@dataclass(frozen=True)
class TopicScore:
    """The score of a topic's items, with intermediate values. `share` is t, not clipped."""

    items: int
    credit: float
    guess: float
    share: float
    variance: float
    label: str

    @property
    def covered(self) -> bool:
        return self.items >= MIN_ITEMS


@dataclass(frozen=True)
class Overall:
    """A score from 0 to 10 with its 90% interval, each clipped to the scale."""

    score: float
    low: float
    high: float
    half_width: float


def topic_score(items: Sequence[Item]) -> TopicScore:
    """Score one topic. Raises ValueError without items."""
    count = len(items)
    if not count:
        raise ValueError("a topic without items has no score")
    credit = sum(item.credit for item in items)
    guess = sum(item.guess for item in items) / count
    scale = 1 - guess - SLIP
    smoothed = (credit + 1) / (count + 2)
    variance = smoothed * (1 - smoothed) / count / scale**2
    return TopicScore(count, credit, guess, (credit / count - guess) / scale, variance, label(items))


def overall(topics: Iterable[TopicScore], min_topics: int = MIN_TOPICS) -> Overall | None:
    """Score all covered topics together; None if fewer than `min_topics` are covered."""
    covered = [topic for topic in topics if topic.covered]
    if len(covered) < max(1, min_topics):
        return None
    centre = SCALE * sum(topic.share for topic in covered) / len(covered)
    half = Z90 * SCALE / len(covered) * math.sqrt(sum(topic.variance for topic in covered))
    return Overall(clip_score(centre), clip_score(centre - half), clip_score(centre + half), half)


def label(items: Sequence[Item]) -> str:
    """Label items by the posterior of the share that is known, from a uniform prior.

    Solid: at least 0.7 is known with 80% certainty. Weak: less than 0.5 is, with 80% certainty. Else unsure. Typed
    answers are solid at 4 of 4, 5 of 5, 6 of 6 or 7 of 8.
    """
    grid = [step / (GRID - 1) for step in range(GRID)]
    weights = [_likelihood(items, share) for share in grid]
    total = sum(weights)
    if sum(w for share, w in zip(grid, weights, strict=True) if share >= SOLID_FROM) >= SURE_ENOUGH * total:
        return SOLID
    if sum(w for share, w in zip(grid, weights, strict=True) if share < WEAK_BELOW) >= SURE_ENOUGH * total:
        return WEAK
    return UNSURE


def _likelihood(items: Sequence[Item], share: float) -> float:
    """Return the likelihood of these credits if this share is known; a part of a credit is a part of an answer."""
    log = 0.0
    for item in items:
        credit, guess = (float(item.credit >= 1), item.guess**3) if item.whole else (item.credit, item.guess)
        right = guess + (1 - guess - SLIP) * share
        log += credit * math.log(max(right, 1e-12)) + (1 - credit) * math.log(max(1 - right, 1e-12))
    return math.exp(log)


def clip_score(value: float) -> float:
    """Clip a score to the scale from 0 to 10."""
    return min(SCALE, max(0.0, value))
