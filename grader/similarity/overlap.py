"""Code that two files share beyond what is common: how much, how rare, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from grader.similarity.class_index import ClassIndex
from grader.similarity.solution import Solution
from grader.similarity.winnowing import RUN_LENGTH, Prints

MAX_GAP_LINES = 2  # between two pieces of one passage


@dataclass(frozen=True)
class Overlap:
    """The shared code of two files.

    `tokens` are counted, and `weighed` by rarity; `share` is relative to the shorter one's own code; `lines` are those
    of the first file; `first` and `second` are the first and last line of the largest passage in each.
    """

    tokens: int
    weighed: float
    share: float
    lines: int
    first: tuple[int, int]
    second: tuple[int, int]


def find_overlap(first: Solution, second: Solution, index: ClassIndex) -> Overlap | None:
    """Return what two solutions share; None if it is only what is common."""
    own = [index.rare_prints(first), index.rare_prints(second)]
    shared = {gram: rarity for gram, rarity in own[0].items() if gram in own[1]}
    if not shared:
        return None
    covers = [_cover(one.prints, shared) for one in (first, second)]
    tokens = [int(np.count_nonzero(cover)) for cover in covers]
    whole = [int(np.count_nonzero(_cover(one.prints, mine))) for one, mine in zip((first, second), own, strict=True)]
    shorter = whole.index(min(whole))
    passage, within = _largest_passage(first.prints, shared)
    return Overlap(
        min(tokens),
        float(min(cover.sum() for cover in covers)),
        tokens[shorter] / whole[shorter],
        _count_lines(first.prints, shared),
        passage,
        _largest_passage(second.prints, within)[0],
    )


def _cover(prints: Prints, weights: Mapping[int, float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return for each token the weight of the heaviest print that covers it.

    Repetitions count once: three lines for q, k and v are one thought.
    """
    cover = np.zeros(int(prints["at"].max()) + RUN_LENGTH if len(prints) else 0)
    left = dict(weights)
    for gram, at in zip(prints["hash"].tolist(), prints["at"].tolist(), strict=True):
        weight = left.pop(gram, 0.0)
        if weight:
            run = cover[at : at + RUN_LENGTH]
            np.maximum(run, weight, out=run)
    return cover


def _lines(prints: Prints, weights: Mapping[int, float]) -> dict[int, set[int]]:
    """Return the lines with any of these prints, in order, and which prints."""
    found: dict[int, set[int]] = {}
    for gram, line, last in zip(*(prints[field].tolist() for field in ("hash", "line", "last")), strict=True):
        if gram in weights:
            for number in range(line, last + 1):
                found.setdefault(number, set()).add(gram)
    return dict(sorted(found.items()))


def _count_lines(prints: Prints, weights: Mapping[int, float]) -> int:
    """Return on how many lines these prints are.

    A run that goes over an empty stretch, as from cell to cell of a notebook, is on its ends alone.
    """
    found: set[int] = set()
    for gram, line, last in zip(*(prints[field].tolist() for field in ("hash", "line", "last")), strict=True):
        if gram in weights:
            found.update(range(line, last + 1) if last - line < RUN_LENGTH else (line, last))
    return len(found)


def _largest_passage(prints: Prints, weights: Mapping[int, float]) -> tuple[tuple[int, int], dict[int, float]]:
    """Return the first and last line of the passage with most of these prints, and the prints."""
    lines = _lines(prints, weights)
    best: tuple[int, tuple[int, int]] = (0, (0, 0))
    current: set[int] = set()
    start = before = None
    for line, found in lines.items():
        if start is None or before is None or line > before + MAX_GAP_LINES + 1:
            start, current = line, set()
        before = line
        current |= found  # in place: a copy for each line would cost its square
        if len(current) > best[0]:
            best = (len(current), (start, line))
    first, last = best[1]
    return best[1], {gram: weights[gram] for line, found in lines.items() if first <= line <= last for gram in found}
