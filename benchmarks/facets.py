"""How well can few answers tell in which facets a learner is strong and weak? The best rule that there is, by sums.

    python benchmarks/facets.py [ANSWERS ...]

A learner knows 0.9 of one facet of six, 0.35 of another and 0.6 of the rest, and guesses nothing. The rule knows these
numbers, but not of which facets. It says nothing, "strong in A", "weak in B" or "better in A than in B", whichever
makes it right most often while it is wrong in at most one case of fifty (Neyman and Pearson): nobody's rule does
better. Of five answers of each facet it is right in 34 of 100 cases, of ten in 84: which is why an assessment asks more
than five of the facets that most questions are of, and compares no others.
"""

from __future__ import annotations

import sys
from collections import Counter
from itertools import combinations_with_replacement, permutations
from math import comb, factorial, prod

STRONG, WEAK, REST, FACETS = 0.9, 0.35, 0.6, 6
WRONG_AT_MOST = 0.02
PAIRS = list(permutations(range(FACETS), 2))  # (strong, weak)

Case = tuple[float, list[float]]  # how likely these counts are, and how likely each statement is then true


def cases(answers: int) -> list[Case]:
    """List the counts of right answers that there can be, whatever their order."""

    def chance(right: int, share: float) -> float:
        return comb(answers, right) * share**right * (1 - share) ** (answers - right)

    found = []
    for counts in combinations_with_replacement(range(answers + 1), FACETS):
        orders = factorial(FACETS) // prod(map(factorial, Counter(counts).values()))
        likely = {
            (a, b): prod(
                chance(n, STRONG if place == a else WEAK if place == b else REST) for place, n in enumerate(counts)
            )
            for a, b in PAIRS
        }
        total = sum(likely.values())
        strong = [sum(likely[each] for each in PAIRS if each[0] == facet) / total for facet in range(FACETS)]
        weak = [sum(likely[each] for each in PAIRS if each[1] == facet) / total for facet in range(FACETS)]
        better = [strong[a] + weak[b] - likely[a, b] / total for a, b in PAIRS]
        found.append((orders * total / len(PAIRS), [*strong, *weak, *better]))
    return found


def best_rule(found: list[Case]) -> tuple[float, float]:
    """Return how often the best rule is right and how often wrong: it speaks where it is surest."""
    right = wrong = 0.0
    for likely, true in sorted(((likely, max(true)) for likely, true in found), key=lambda each: -each[1]):
        if wrong + likely * (1 - true) <= WRONG_AT_MOST:
            right, wrong = right + likely * true, wrong + likely * (1 - true)
    return right, wrong


def main() -> None:
    for answers in map(int, sys.argv[1:] or ["5", "7", "10"]):
        right, wrong = best_rule(cases(answers))
        print(f"{answers:>3} answers of each facet: right in {right:.0%}, wrong in {wrong:.1%}")


if __name__ == "__main__":
    main()
