"""How rare each fingerprint is in a class, and which two solutions of a lesson share some."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from grader.similarity.course_corpus import CourseCorpus
from grader.similarity.rare_prints import RarePrints
from grader.similarity.solution import Solution

VIRTUAL_LEARNERS = 28  # added to the class, all different: in a small one, agreement says less
IDIOM_SHARE = 0.15  # of the class; what more of it has is a common idiom
MIN_IDIOM_LEARNERS = 4  # learners
MIN_TOKENS_RIGHT = 80  # about eight lines: right answers that are shorter are all alike
SMALL_GROUP = 12  # solutions; in a larger group with one print, each is only compared with its most similar
SKETCH_SIZE = 4  # prints by which similarity is estimated

Ints = npt.NDArray[np.int64]


class ClassIndex:
    """All solutions of one lesson."""

    def __init__(self, solutions: Sequence[Solution], corpus: CourseCorpus) -> None:
        self.solutions = solutions
        numbers = {learner: number for number, learner in enumerate(sorted({one.learner for one in solutions}))}
        self.size = len(numbers)
        self.limit = max(MIN_IDIOM_LEARNERS, int(IDIOM_SHARE * self.size))
        self.learners = np.array([numbers[one.learner] for one in solutions], dtype=np.int64)
        self._rarities = np.array([self.rarity(learners) for learners in range(1, self.limit + 1)])
        self._prints, self._owners = self._uncommon(corpus)
        self._own: dict[Solution, RarePrints] = {}
        self.twins = self._find_twins()
        self._hashes, self._counts = self._count_prints(self._find_writers())
        _, self._holders = self._count_prints(self.learners)
        self._words = self._count(lambda one: one.names | one.remarks)
        self._wrongs = self._count(lambda one: (one.wrong, one.wrong.mistakes) if one.wrong else ())
        self._rare: dict[Solution, RarePrints] = {}

    def rarity(self, learners: int) -> float:
        """Return from 0 to 1 how much it says that two have what *learners* of the class have."""
        if learners > self.limit:
            return 0.0
        return min(1.0, max(0.0, (math.log2((self.size + VIRTUAL_LEARNERS) / learners) - 2) / 4))

    def rare_prints(self, one: Solution) -> RarePrints:
        """Return a solution's prints, without those that are common or in the course; they are looked up once."""
        if one not in self._rare:
            rarities = self._rarities_of(one)
            self._rare[one] = RarePrints(one.prints[rarities > 0], rarities[rarities > 0], one.tokens)
        return self._rare[one]

    def own_prints_of(self, one: Solution) -> RarePrints:
        """Return a solution's prints without those in the course, as if nobody else of the class had them."""
        if one not in self._own:
            hashes = one.prints["hash"].astype(np.int64)
            places = np.minimum(np.searchsorted(self._prints, hashes), len(self._prints) - 1)
            own = one.prints[self._prints[places] == hashes] if len(self._prints) else one.prints[:0]
            self._own[one] = RarePrints(own, np.full(len(own), self.rarity(1)), one.tokens)
        return self._own[one]

    def are_twins(self, first: Solution, second: Solution) -> bool:
        """Return True for two that are the same word for word, and long enough for that to say something."""
        is_same = first.text == second.text and np.array_equal(first.prints["hash"], second.prints["hash"])
        return is_same and first is not second and self.own_prints_of(first).tokens >= MIN_TOKENS_RIGHT

    def _rarities_of(self, one: Solution) -> npt.NDArray[np.float64]:
        """Return the rarity of each of a solution's prints."""
        prints = one.prints["hash"].astype(np.int64)
        if not len(self._hashes):
            return np.zeros(len(prints))
        places = np.minimum(np.searchsorted(self._hashes, prints), len(self._hashes) - 1)
        counts = np.where(self._hashes[places] == prints, self._counts[places], self.limit + 1)
        known = np.minimum(counts, self.limit) - 1
        return np.where(counts <= self.limit, self._rarities[known], 0.0)

    def rarity_of_words(self, words: str) -> float:
        """Return the rarity of a name or a remark."""
        return self.rarity(self._words[words])

    def rarity_of_wrong(self, wrong: Hashable) -> float:
        """Return the rarity of a `WrongAnswer`, or of the ids of its mistakes."""
        return self.rarity(self._wrongs[wrong])

    def shared_pairs(self) -> tuple[Ints, Ints, Ints, npt.NDArray[np.float64]]:
        """Return the pairs of solutions of different learners that share prints: how many, and how rare in all."""
        found = [self._shared_prints(), *self._shared_by_twins()]
        first, second, weights = (np.concatenate(parts) for parts in zip(*found, strict=True))
        differ = self.learners[first] != self.learners[second]
        first, second, weights = first[differ], second[differ], weights[differ]
        many = len(self.solutions)
        keys, inverse = np.unique(np.minimum(first, second) * many + np.maximum(first, second), return_inverse=True)
        counts = np.bincount(inverse, minlength=len(keys)).astype(np.int64)
        sums = np.bincount(inverse, weights=weights, minlength=len(keys)).astype(np.float64)
        return *np.divmod(keys.astype(np.int64), many), counts, sums

    @cached_property
    def own_prints(self) -> Ints:
        """How many prints of each solution are neither common nor in the course."""
        rare = self._counts[np.searchsorted(self._hashes, self._prints)] <= self.limit
        return np.bincount(self._owners[rare], minlength=len(self.solutions)).astype(np.int64)

    def _uncommon(self, corpus: CourseCorpus) -> tuple[Ints, Ints]:
        """Return every print that is not in the course, once a solution, sorted, and the indices of the solutions."""
        sizes = [len(one.prints) for one in self.solutions]
        owners = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
        prints = np.concatenate([one.prints["hash"] for one in self.solutions]).astype(np.int64)
        unknown = ~np.isin(prints, corpus.hashes)
        keys = _distinct((prints[unknown] << 24) | owners[unknown])
        return keys >> 24, keys & 0xFFFFFF

    def _find_twins(self) -> list[list[int]]:
        """Return the places of solutions that are the same, word for word: short ones many write independently."""
        equal: dict[Hashable, list[int]] = defaultdict(list)
        for place, one in enumerate(self.solutions):
            equal[one.text, one.prints["hash"].tobytes()].append(place)
        several = (places for places in equal.values() if len(places) > 1)
        return [places for places in several if self.are_twins(*(self.solutions[place] for place in places[:2]))]

    def _find_writers(self) -> Ints:
        """Return who wrote each solution: twins count as one, for what many of them share would else be an idiom."""
        writers = self.learners.copy()
        for places in self.twins:
            writers[places] = writers[places].min()
        return writers

    def _shared_by_twins(self) -> list[tuple[Ints, Ints, npt.NDArray[np.float64]]]:
        """Return all own prints of each twin and the next one, however many others of the class have some of them."""
        found = []
        for places in self.twins:
            many = len(self.own_prints_of(self.solutions[places[0]]).hashes)
            first, second = (np.repeat(np.array(some, dtype=np.int64), many) for some in (places[:-1], places[1:]))
            found.append((first, second, np.full(len(first), self.rarity(1))))
        return found

    def _count_prints(self, who: Ints) -> tuple[Ints, Ints]:
        """Return each print, sorted, and how many have it; *who* says for each solution whose it is."""
        hashes = _distinct((self._prints << 24) | who[self._owners]) >> 24
        starts = np.flatnonzero(np.diff(hashes, prepend=-1))
        return hashes[starts], np.diff(starts, append=len(hashes))

    def _count(self, of: Callable[[Solution], Collection[Hashable]]) -> dict[Hashable, int]:
        """Count the learners that have each thing."""
        learners: dict[Hashable, set[str]] = defaultdict(set)
        for one in self.solutions:
            for thing in of(one):
                learners[thing].add(one.learner)
        return {thing: len(those) for thing, those in learners.items()}

    def _shared_prints(self) -> tuple[Ints, Ints, npt.NDArray[np.float64]]:
        """Return pairs of solutions that share a print, once a print, and its rarity."""
        places = np.searchsorted(self._hashes, self._prints)
        rare = (self._holders[places] > 1) & (self._counts[places] <= self.limit)
        prints, owners, places = self._prints[rare], self._owners[rare], places[rare]
        order = np.lexsort((self._sketch_order(prints, owners)[owners], prints))
        prints, owners, places = prints[order], owners[order], places[order]
        rarities, holders = self._rarities[self._counts[places] - 1], self._holders[places]
        found = []
        for apart in range(1, SMALL_GROUP):  # sorted by print, solutions that share one are neighbours
            alike = prints[apart:] == prints[:-apart]
            alike &= (holders[apart:] <= SMALL_GROUP) | (apart == 1)
            found.append((owners[:-apart][alike], owners[apart:][alike], rarities[apart:][alike]))
        first, second, weights = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return first, second, weights

    def _sketch_order(self, prints: Ints, owners: Ints) -> Ints:
        """Return a rank for each solution by its smallest prints, so that similar ones are neighbours."""
        order = np.lexsort((prints, owners))
        prints, owners = prints[order], owners[order]
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        rank = np.arange(len(owners)) - np.repeat(starts, np.diff(starts, append=len(owners)))
        sketch = np.full((len(self.solutions), SKETCH_SIZE), np.iinfo(np.int64).max)
        early = rank < SKETCH_SIZE
        sketch[owners[early], rank[early]] = prints[early]
        places = np.empty(len(self.solutions), dtype=np.int64)
        places[np.lexsort(sketch.T[::-1])] = np.arange(len(self.solutions))
        return places


def _distinct(keys: Ints) -> Ints:
    """Return each key once, sorted; `np.unique` takes several times as long for millions of integers."""
    keys.sort()
    distinct: Ints = keys[np.diff(keys, prepend=-1) != 0]
    return distinct
