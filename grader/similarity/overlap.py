"""The code that two files share beyond what is common: how much of it, how rare, and where it stands in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from grader.similarity.class_index import Classroom
from grader.similarity.solution import Answer
from grader.similarity.winnowing import LENGTH, Prints

GAP = 2  # lines between two pieces that are still one place


@dataclass(frozen=True)
class Overlap:
    """`tokens` that both have, and the same weighed by their rarity; `share` of what the shorter one has of its own;
    `lines` on which they stand in the first, and the largest place in each, first and last line."""

    tokens: int
    weighed: float
    share: float
    lines: int
    first: tuple[int, int]
    second: tuple[int, int]


def overlap(first: Answer, second: Answer, room: Classroom) -> Overlap | None:
    """None if they share nothing that is not common."""
    own = [room.rare_prints(first), room.rare_prints(second)]
    shared = {gram: rarity for gram, rarity in own[0].items() if gram in own[1]}
    if not shared:
        return None
    covers = [_cover(one.prints, shared) for one in (first, second)]
    tokens = [int(np.count_nonzero(cover)) for cover in covers]
    whole = [int(np.count_nonzero(_cover(one.prints, mine))) for one, mine in zip((first, second), own, strict=True)]
    shorter = whole.index(min(whole))
    place, there = _largest_place(first.prints, shared)
    return Overlap(
        min(tokens), float(min(cover.sum() for cover in covers)), tokens[shorter] / whole[shorter],
        len(_lines(first.prints, shared)), place, _largest_place(second.prints, there)[0],
    )  # fmt: skip


def _cover(prints: Prints, weights: Mapping[int, float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """For each token, the weight of the heaviest print that covers it. What is repeated counts once: three lines for
    q, k and v are one thought."""
    cover = np.zeros(int(prints["at"].max()) + LENGTH if len(prints) else 0)
    left = dict(weights)
    for gram, at in zip(prints["hash"].tolist(), prints["at"].tolist(), strict=True):
        weight = left.pop(gram, 0.0)
        if weight:
            run = cover[at : at + LENGTH]
            np.maximum(run, weight, out=run)
    return cover


def _lines(prints: Prints, weights: Mapping[int, float]) -> dict[int, set[int]]:
    """The lines on which these prints stand, in order, and which ones."""
    found: dict[int, set[int]] = {}
    for gram, line, last in zip(*(prints[field].tolist() for field in ("hash", "line", "last")), strict=True):
        if gram in weights:
            for number in range(line, last + 1):
                found.setdefault(number, set()).add(gram)
    return dict(sorted(found.items()))


def _largest_place(prints: Prints, weights: Mapping[int, float]) -> tuple[tuple[int, int], dict[int, float]]:
    """The first and last line of the place with most of these prints, and those prints."""
    best: tuple[int, tuple[int, int], set[int]] = (0, (0, 0), set())
    here: set[int] = set()
    start = before = None
    for line, found in _lines(prints, weights).items():
        if start is None or before is None or line > before + GAP + 1:
            start, here = line, set()
        before, here = line, here | found
        if len(here) > best[0]:
            best = (len(here), (start, line), here)
    return best[1], {gram: weights[gram] for gram in best[2]}
