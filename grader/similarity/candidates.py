"""Which two solutions of a lesson are compared, and in which order: those first that may be the strongest evidence.

How strong is estimated by the prints that two share, as `evidence.compare` weighs them: how rare they are, and which
part of the shorter file has them. A long file that shares much, but is mostly something else, comes behind a short
copy.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from grader.model.groups import Groups
from grader.similarity.class_index import ClassIndex, Ints
from grader.similarity.evidence import BASE_EVIDENCE, EVIDENCE_PER_TOKEN, MIN_SHARE
from grader.similarity.solution import Solution
from grader.similarity.winnowing import WINDOW

MAX_CANDIDATES, MAX_JOINING = 200, 100
MAX_OF_TWO = 3  # pairs of the attempts of two learners
MAX_RANKED = 20_000  # pairs that are looked at for whom they join, or for what else two learners share
MAX_FURTHER = 100  # pairs of learners of whom MAX_OF_TWO were no evidence
MIN_WORTH = 0.2  # of a pair that may be evidence: names, remarks and equal mistakes make five times as much of it
TOKENS_A_PRINT = (WINDOW + 1) / 2

Pair = tuple[Solution, Solution]
Floats = npt.NDArray[np.float64]


class Candidates:
    """The pairs of different learners, best first: of two learners a few are `chosen`, and others come `further`.

    Behind MAX_CANDIDATES come MAX_JOINING more that join learners whom no better pair has joined: the pairs of a ring
    would else take the places of everybody.
    """

    def __init__(self, index: ClassIndex) -> None:
        self._solutions = index.solutions
        first, second, worths = _weigh_pairs(index)
        order, rank = _rank_of_two(first, second, worths, index)
        few = rank < MAX_OF_TWO
        best = order[few][np.argsort(-worths[order[few]], kind="stable")]
        self.chosen = self._choose(first[best], second[best], index.learners)
        self.left = len(best) - len(self.chosen)
        # many pairs of two, though each is worth much, do not go before all those of others
        rest = order[~few][np.argsort(-worths[order[~few]] / (rank[~few] - MAX_OF_TWO + 1), kind="stable")][:MAX_RANKED]
        self.further = list(zip(self._pairs(first[rest], second[rest]), worths[rest].tolist(), strict=True))

    def _choose(self, first: Ints, second: Ints, learners: Ints) -> list[Pair]:
        groups = Groups()
        ends = zip(learners[first].tolist(), learners[second].tolist(), strict=True)
        joining = [place for place, two in zip(range(MAX_RANKED), ends, strict=False) if groups.join(*two)]
        chosen = list(range(min(MAX_CANDIDATES, len(first))))
        chosen += [place for place in joining if place >= MAX_CANDIDATES][:MAX_JOINING]
        return list(self._pairs(first[chosen], second[chosen]))

    def _pairs(self, first: Ints, second: Ints) -> Iterable[Pair]:
        return [(self._solutions[one], self._solutions[two]) for one, two in zip(first, second, strict=True)]


def _weigh_pairs(index: ClassIndex) -> tuple[Ints, Ints, Floats]:
    """Return the pairs that share a print, by the places of their solutions, and about how strong evidence each is."""
    first, second, counts, sums = index.shared_pairs()
    tokens = np.array([one.tokens for one in index.solutions], dtype=np.int64)
    own = np.minimum(index.own_prints[first], index.own_prints[second])
    share = np.minimum(counts / np.maximum(own, 1), 1.0)
    needed = BASE_EVIDENCE + EVIDENCE_PER_TOKEN * np.minimum(tokens[first], tokens[second])
    too_little = np.minimum(share / MIN_SHARE, 1.0) ** 2  # an estimate may be wrong: no pair is left out
    return first, second, TOKENS_A_PRINT * sums * share**0.5 * too_little / needed


def _rank_of_two(first: Ints, second: Ints, worths: Floats, index: ClassIndex) -> tuple[Ints, Ints]:
    """Return an order of the pairs, and which each is of those of its two learners: 0 is the best."""
    one, other = index.learners[first], index.learners[second]
    of_two = np.minimum(one, other) * index.size + np.maximum(one, other)
    order = np.lexsort((-worths, of_two))
    starts = np.flatnonzero(np.diff(of_two[order], prepend=-1))
    return order, np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
