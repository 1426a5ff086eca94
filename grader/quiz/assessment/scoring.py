"""Score checked answers, with an interval. Every step is a formula that can be printed and done by hand.

An item has a credit k from 0 to 1, a guess rate g, what guessing earns on average, and a weight w, which is 1 while
the answer is fresh. For a topic, with n the sum of w, and k and g the means of its items by weight,

    t = (k - g) / (1 - g - SLIP)

is the share that is known: 0 for guessing everything, 1 for knowing everything and slipping as people do. Who says
"I do not know" has the credit g: no more than who guesses, and no less. The score is 10 times the mean of t over the
topics that have enough items. If the share s were known of each topic, the mean, clipped to 0 and 1, would vary by

    V(s) = 1/T^2 * sum of (p (1 - p) - u g (1 - g)) / n / (1 - g - SLIP)^2,    p = g + (1 - g - SLIP) s

where u, at most 1 - s, is the share of items that were said not to be known: nothing was left to luck there. The 90%
interval holds every share s from which the mean m is no further than 1.75 sqrt(V(s)). Who knows all can only slip,
so of the gap 1 - m the part exp(-((1 - m)^2 / 2.75 / V(1))^2), which is near 1 as long as slips explain m, is not held
against anybody: without it a true 10 would be shown as 9.85. With it, it is shown as 9.93, for no score is above 10.
Where topics are left out, V gets more by (their share * SPREAD)^2: whoever chooses topics may know the others worse, or
better.

One topic, one facet or one session alone has the score 10 t, from 0 to 10, and no more than 9.9 where anything was
missed: of so few answers nothing is put down to slips.

Averaging Bayesian estimates of each topic would pull every score to the middle: with 3 items a topic a true 9 is shown
as 7 (benchmarks/assessment.py repeats the experiment).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

SLIP = 0.03  # how often a learner who knows is wrong
MIN_ITEMS = 3  # for a topic to be covered
MIN_TOPICS = 6  # for a score over all
SPREAD = 0.3  # at least, of a learner's knowledge over the topics that were left out
Z90 = 1.75  # 1.645 would do if credits were normal; they are few, and skewed near both ends
SLIPS_WIDTH = 2.75  # wider makes 9.5 too high, narrower makes 10 too low: 0.07 each
SCALE = 10.0
SHORT_OF_ALL = 9.9  # the most that is shown of a topic of which something was missed

SOLID, UNSURE, WEAK = "solid", "unsure", "weak"
SOLID_FROM, WEAK_BELOW, SURE_ENOUGH = 0.7, 0.5, 0.8
GRID = 401
HALVINGS = 20  # by which an end of an interval is found


@dataclass(frozen=True)
class Item:
    """One checked answer. `whole`: only full credit counts towards "solid". `unknown`: said not to be known."""

    credit: float
    guess: float
    whole: bool = False
    weight: float = 1.0
    unknown: bool = False


@dataclass(frozen=True)
class TopicScore:
    """The score of a topic's items, with intermediate values.

    `weight` is n, `credit` and `guess` are k and g, `unknown` is u before it is bounded, `share` is t, not clipped.
    """

    items: tuple[Item, ...]
    weight: float
    credit: float
    guess: float
    unknown: float
    share: float

    @property
    def covered(self) -> bool:
        return len(self.items) >= MIN_ITEMS

    @property
    def label(self) -> str:
        return label(self.items)

    @property
    def score(self) -> float:
        """Return 10 t on the scale from 0 to 10, which ends at 9.9 for whoever missed something."""
        most = SCALE if all(item.credit >= 1 for item in self.items) else SHORT_OF_ALL
        return min(most, max(0.0, SCALE * self.share))

    def variance(self, share: float) -> float:
        """Return how much t varies from chance if this share is known."""
        scale = 1 - self.guess - SLIP
        right = self.guess + scale * share
        certain = min(self.unknown, 1 - share) * self.guess * (1 - self.guess)
        return max(0.0, right * (1 - right) - certain) / self.weight / scale**2


class Overall(NamedTuple):
    """A score from 0 to 10 with its 90% interval; `spread` is the variance from topics that were left out."""

    score: float
    low: float
    high: float
    spread: float = 0.0


def topic_score(items: Sequence[Item]) -> TopicScore:
    """Score one topic. Raises ValueError without items."""
    if not items:
        raise ValueError("a topic without items has no score")
    weight = sum(item.weight for item in items)
    guess = sum(item.weight * item.guess for item in items) / weight
    credit = sum(item.weight * (item.guess if item.unknown else item.credit) for item in items) / weight
    unknown = sum(item.weight for item in items if item.unknown) / weight
    return TopicScore(tuple(items), weight, credit, guess, unknown, (credit - guess) / (1 - guess - SLIP))


def overall(topics: Iterable[TopicScore], min_topics: int = MIN_TOPICS, of: int = 0) -> Overall | None:
    """Score all covered topics together; None if fewer than `min_topics` are covered.

    Args:
        topics: Those with evidence.
        min_topics: How many are needed.
        of: How many topics there are; 0 if no other was left out.
    """
    covered = [topic for topic in topics if topic.covered]
    if len(covered) < max(1, min_topics):
        return None
    return score_together(covered, spread_of_others(covered, of))


def score_alone(items: Sequence[Item]) -> Overall:
    """Score the items of one topic, facet or session by themselves. Raises ValueError without items."""
    topic = topic_score(items)
    low, high = _find_interval([topic], min(1.0, max(0.0, topic.share)), 0.0)
    return Overall(topic.score, min(SCALE * low, topic.score), SCALE * high)


def score_together(topics: Sequence[TopicScore], spread: float = 0.0) -> Overall:
    """Score these topics together."""
    mean = min(1.0, max(0.0, sum(topic.share for topic in topics) / len(topics)))
    low, high = _find_interval(topics, mean, spread)
    return Overall(SCALE * (mean + slips_of_all(topics, mean)), SCALE * low, SCALE * high, spread)


def slips_of_all(topics: Sequence[TopicScore], mean: float) -> float:
    """Return how much of the gap between this mean and 1 is put down to slips."""
    return (1 - mean) * math.exp(-(((1 - mean) ** 2 / SLIPS_WIDTH / variance_at(topics, 1.0)) ** 2))


def variance_at(topics: Sequence[TopicScore], share: float, spread: float = 0.0) -> float:
    """Return V, how much the mean over topics varies if this share is known of each."""
    return sum(topic.variance(share) for topic in topics) / len(topics) ** 2 + spread


def spread_of_others(covered: Sequence[TopicScore], of: int) -> float:
    """Return the variance of the mean over all topics that comes from those that were left out."""
    left = max(0, of - len(covered)) / max(1, of)
    shares = [min(1.0, max(0.0, topic.share)) for topic in covered]
    mean = sum(shares) / len(shares)
    seen = sum((share - mean) ** 2 for share in shares) / max(1, len(shares) - 1)
    chance = sum(topic.variance(mean) for topic in covered) / len(covered)
    return left**2 * max(SPREAD**2, seen - chance)


def _find_interval(topics: Sequence[TopicScore], mean: float, spread: float) -> tuple[float, float]:
    """Find the lowest and the highest share from which this mean is within chance."""

    def is_within(share: float) -> bool:
        return (mean - share) ** 2 <= Z90**2 * variance_at(topics, share, spread)

    ends = []
    for end in (0.0, 1.0):
        inside, outside = mean, end
        for _ in range(HALVINGS):
            if is_within(outside):
                break
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if is_within(middle) else (inside, middle)
        ends.append(outside if is_within(outside) else inside)
    return ends[0], ends[1]


def label(items: Sequence[Item]) -> str:
    """Label items by the posterior of the share that is known, from a uniform prior.

    Solid: at least 0.7 is known with 80% certainty. Weak: less than 0.5 is, with 80% certainty. Else unsure. Typed
    answers are solid at 4 of 4, 5 of 5, 6 of 6 or 7 of 8.
    """
    if certainty(items, SOLID_FROM, 1.0) >= SURE_ENOUGH:
        return SOLID
    return WEAK if certainty(items, 0.0, WEAK_BELOW) >= SURE_ENOUGH else UNSURE


def certainty(items: Sequence[Item], low: float, high: float) -> float:
    """Return the posterior probability that the share known is from `low` to `high`, from a uniform prior."""
    grid = [step / (GRID - 1) for step in range(GRID)]
    logs = [_log_likelihood(items, share) for share in grid]
    top = max(logs)
    weights = [math.exp(log - top) for log in logs]
    within = sum(w for share, w in zip(grid, weights, strict=True) if low <= share and (share < high or high == 1.0))
    return within / sum(weights)


def _log_likelihood(items: Sequence[Item], share: float) -> float:
    """Return the log likelihood of these credits if this share is known; a part of a credit is a part of an answer."""
    log = 0.0
    for item in items:
        credit, guess = (float(item.credit >= 1), item.guess**3) if item.whole else (item.credit, item.guess)
        right = share if item.unknown else guess + (1 - guess - SLIP) * share
        credit = 0.0 if item.unknown else credit
        log += item.weight * (credit * math.log(max(right, 1e-12)) + (1 - credit) * math.log(max(1 - right, 1e-12)))
    return log
