"""What is computed of one solution alone, once, whatever it is compared with: its prints that are rare in the class."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from grader.similarity.winnowing import RUN_LENGTH, Prints

Hashes = npt.NDArray[np.uint32]
Floats = npt.NDArray[np.float64]
Chosen = npt.NDArray[np.bool_]  # for each distinct hash


class RarePrints:
    """The rare prints of a file of `size` tokens, in its order, and their sorted, distinct `hashes`."""

    def __init__(self, prints: Prints, rarities: Floats, size: int) -> None:
        """Keep them, and the rarity of each."""
        self._prints, self._size = prints, size
        self.hashes, first, self._places = np.unique(prints["hash"], return_index=True, return_inverse=True)
        self._starts = prints["at"][first].astype(np.int64)
        self._rarities = rarities[first]

    @cached_property
    def tokens(self) -> int:
        """How many tokens these prints cover."""
        return int(np.count_nonzero(self.cover(np.ones(len(self.hashes), dtype=np.bool_))))

    def choose(self, hashes: Hashes) -> Chosen:
        """Choose of the hashes those that are among these, which are some of them."""
        chosen = np.zeros(len(self.hashes), dtype=np.bool_)
        chosen[np.searchsorted(self.hashes, hashes)] = True
        return chosen

    def prints(self, chosen: Chosen) -> Prints:
        """Return the prints with the chosen hashes."""
        return self._prints[chosen[self._places]]

    def cover(self, chosen: Chosen) -> Floats:
        """Return for each token the rarity of the rarest print with a chosen hash that covers it.

        Repetitions count once: three lines for q, k and v are one thought.
        """
        starts, rarities = self._starts[chosen], self._rarities[chosen]
        cover = np.zeros(self._size)
        for at in range(RUN_LENGTH):
            cover[starts + at] = np.maximum(cover[starts + at], rarities)
        return cover
