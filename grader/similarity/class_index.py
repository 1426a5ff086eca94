"""One lesson of a whole class: how rare each thing is in it, and which two hand-ins may be worth a closer look."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence

import numpy as np
import numpy.typing as npt

from grader.similarity.course_corpus import Known
from grader.similarity.solution import Answer

# As if so many more, all different, were in the class: that two agree says less in a small one.
OTHERS = 28
IDIOM_SHARE = 0.15  # what more of the class than this has is how people write it
IDIOM_LEAST = 4  # learners
SMALL_GROUP = 12  # hand-ins; among more that share a print, each is only put beside the one most like it
SKETCH = 4  # prints by which "most like it" is seen
MOST_CANDIDATES = 200

Ints = npt.NDArray[np.int64]


class Classroom:
    """Everything handed in for one lesson."""

    def __init__(self, everyone: Sequence[Answer], known: Known) -> None:
        self.everyone = everyone
        numbers = {learner: number for number, learner in enumerate(sorted({one.learner for one in everyone}))}
        self.size = len(numbers)
        self.limit = max(IDIOM_LEAST, int(IDIOM_SHARE * self.size))
        self._learners = np.array([numbers[one.learner] for one in everyone], dtype=np.int64)
        self._rarities = np.array([self.rarity(learners) for learners in range(1, self.limit + 1)])
        self._prints, self._owners = self._unknown(known)
        self._hashes, self._counts = self._spread_of_prints()
        self._words = self._spread(lambda one: one.names | one.remarks)
        self._wrongs = self._spread(lambda one: (one.wrong, one.wrong.mistakes) if one.wrong else ())

    def rarity(self, learners: int) -> float:
        """How much it says that two have what so many learners of the class have, from 0 to 1."""
        if learners > self.limit:
            return 0.0
        return min(1.0, max(0.0, (math.log2((self.size + OTHERS) / learners) - 2) / 4))

    def rare_prints(self, one: Answer) -> dict[int, float]:
        """The same for each of a hand-in's prints; what is common, or known to the course, is not among them."""
        prints = one.prints["hash"].astype(np.int64)
        places = np.minimum(np.searchsorted(self._hashes, prints), len(self._hashes) - 1)
        counts = np.where(self._hashes[places] == prints, self._counts[places], self.limit + 1)
        keep = counts <= self.limit
        rarities = self._rarities[counts[keep] - 1].tolist()
        return {gram: rarity for gram, rarity in zip(prints[keep].tolist(), rarities, strict=True) if rarity}

    def rarity_of_words(self, words: str) -> float:
        """The same for a name or a remark."""
        return self.rarity(self._words[words])

    def rarity_of_wrong(self, wrong: Hashable) -> float:
        """The same for a way to be wrong: a `Wrong`, or the ids of its mistakes."""
        return self.rarity(self._wrongs[wrong])

    def candidates(self) -> list[tuple[Answer, Answer]]:
        """The pairs of different learners that share most, rare things counting more; at most MOST_CANDIDATES."""
        first, second, weights = self._shared()
        differ = self._learners[first] != self._learners[second]
        first, second, weights = first[differ], second[differ], weights[differ]
        many = len(self.everyone)
        keys, inverse = np.unique(np.minimum(first, second) * many + np.maximum(first, second), return_inverse=True)
        sums = np.bincount(inverse, weights=weights, minlength=len(keys))
        best = keys[np.argsort(-sums, kind="stable")[:MOST_CANDIDATES]]
        return [(self.everyone[key // many], self.everyone[key % many]) for key in best.tolist()]

    def _unknown(self, known: Known) -> tuple[Ints, Ints]:
        """Every print that the course does not know, once for each hand-in that has it, in order; and whose it is."""
        sizes = [len(one.prints) for one in self.everyone]
        owners = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
        prints = np.concatenate([one.prints["hash"] for one in self.everyone]).astype(np.int64)
        unknown = ~np.isin(prints, known.hashes)
        keys = _distinct((prints[unknown] << 24) | owners[unknown])
        return keys >> 24, keys & 0xFFFFFF

    def _spread_of_prints(self) -> tuple[Ints, Ints]:
        """Each print, in order, and how many learners have it."""
        hashes = _distinct((self._prints << 24) | self._learners[self._owners]) >> 24
        starts = np.flatnonzero(np.diff(hashes, prepend=-1))
        return hashes[starts], np.diff(starts, append=len(hashes))

    def _spread(self, of: Callable[[Answer], Collection[Hashable]]) -> dict[Hashable, int]:
        """How many learners have each thing."""
        learners: dict[Hashable, set[str]] = defaultdict(set)
        for one in self.everyone:
            for thing in of(one):
                learners[thing].add(one.learner)
        return {thing: len(those) for thing, those in learners.items()}

    def _shared(self) -> tuple[Ints, Ints, npt.NDArray[np.float64]]:
        """Pairs of hand-ins that have a print in common, once for each such print, and how rare that is."""
        counts = self._counts[np.searchsorted(self._hashes, self._prints)]
        rare = (counts > 1) & (counts <= self.limit)
        prints, owners, counts = self._prints[rare], self._owners[rare], counts[rare]
        order = np.lexsort((self._sketch_order(prints, owners)[owners], prints))
        prints, owners, counts = prints[order], owners[order], counts[order]
        rarities = self._rarities[counts - 1]
        found = []
        for apart in range(1, SMALL_GROUP):  # in order of the prints, those who share one stand together
            alike = prints[apart:] == prints[:-apart]
            alike &= (counts[apart:] <= SMALL_GROUP) | (apart == 1)
            found.append((owners[:-apart][alike], owners[apart:][alike], rarities[apart:][alike]))
        first, second, weights = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return first, second, weights

    def _sketch_order(self, prints: Ints, owners: Ints) -> Ints:
        """A place for each hand-in, such that those who share most prints stand near each other: the order of their
        smallest prints."""
        order = np.lexsort((prints, owners))
        prints, owners = prints[order], owners[order]
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        rank = np.arange(len(owners)) - np.repeat(starts, np.diff(starts, append=len(owners)))
        sketch = np.full((len(self.everyone), SKETCH), np.iinfo(np.int64).max)
        early = rank < SKETCH
        sketch[owners[early], rank[early]] = prints[early]
        places = np.empty(len(self.everyone), dtype=np.int64)
        places[np.lexsort(sketch.T[::-1])] = np.arange(len(self.everyone))
        return places


def _distinct(keys: Ints) -> Ints:
    """Each key once, in order. `np.unique` takes several times as long for millions of integers."""
    keys.sort()
    distinct: Ints = keys[np.diff(keys, prepend=-1) != 0]
    return distinct
