"""Find what a learner is strong and weak in across topics: why things are built so, working things out, and so on.

Facets are compared in pairs, and only those with enough answers. The two that differ most are named if chance makes a
difference as large, in any of the pairs, in at most one case of five; a facet may also be strong or weak by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

from grader.quiz.assessment.evidence import Evidence
from grader.quiz.assessment.scoring import (
    SOLID,
    SOLID_FROM,
    SURE_ENOUGH,
    WEAK,
    WEAK_BELOW,
    TopicScore,
    certainty,
    score_alone,
)
from grader.quiz.model import FACETS

MIN_ANSWERS = 7  # below which nothing is said of a facet
SURE_ALONE = 0.98  # that a facet is strong, or weak, by itself


def score_facets(found: Sequence[Evidence]) -> list[dict[str, Any]]:
    """Return what is known of each facet that was asked.

    Returns:
        {"name", "title", "items", "right", "partly", "missed": families, "score", "low", "high", "weight",
        "credit", "guess", "share", "finding"}, with n, k, g and t as a topic has them; a finding is SOLID, WEAK,
        "too few" or "". Of fewer answers than a topic needs there is no score.
    """
    scored = [(each, each.score) for each in found if each.score]
    findings = find_strong_and_weak({each.name: score for each, score in scored})
    rows = []
    for each, score in scored:
        result = score_alone(score.items)
        missed = [answer.family for answer in each.answers if answer.credit < 1]
        known = {name: round(getattr(result, name), 1) for name in ("score", "low", "high")}
        numbers = known if score.covered else dict.fromkeys(known)
        finding = "too few" if len(each.counted) < MIN_ANSWERS else findings.get(each.name, "")
        counts = {"items": len(each.answers), "right": len(each.answers) - len(missed), "missed": missed}
        counts["partly"] = each.partly
        sums = {
            "weight": score.weight,
            "credit": score.credit * score.weight,
            "guess": score.guess,
            "share": score.share,
        }
        numbers |= {name: round(number, 4) for name, number in sums.items()}
        rows.append({"name": each.name, "title": FACETS[each.name], **counts, **numbers, "finding": finding})
    return rows


def find_strong_and_weak(scores: Mapping[str, TopicScore]) -> dict[str, str]:
    """Return the facets that are strong or weak, each with SOLID or WEAK."""
    enough = {name: score for name, score in scores.items() if len(score.items) >= MIN_ANSWERS}
    found = {}
    for name, score in enough.items():
        if certainty(score.items, SOLID_FROM, 1.0) >= SURE_ALONE:
            found[name] = SOLID
        elif certainty(score.items, 0.0, WEAK_BELOW) >= SURE_ALONE:
            found[name] = WEAK
    from statistics import NormalDist  # here: a quiz begins sooner without it

    pairs = list(permutations(enough, 2))
    if not pairs:
        return found
    apart, high, low = max((_distance(enough[high], enough[low]), high, low) for high, low in pairs)
    beyond_chance = apart >= NormalDist().inv_cdf(1 - 2 * (1 - SURE_ENOUGH) / len(pairs))
    if beyond_chance and enough[high].share > WEAK_BELOW and enough[low].share < SOLID_FROM:
        found = {high: SOLID, low: WEAK} | found
    return found


def _distance(high: TopicScore, low: TopicScore) -> float:
    """Return by how many standard deviations the first is above the second, if both knew the same share."""
    together = (high.weight * high.share + low.weight * low.share) / (high.weight + low.weight)
    share = min(1.0, max(0.0, together))
    deviation = math.sqrt(high.variance(share) + low.variance(share))
    return (high.share - low.share) / deviation if deviation else 0.0
