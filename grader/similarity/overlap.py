"""Code that two files share beyond what is common: how much, how rare, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    """Return the first and last line of the passage with most of these prints, and the prints.

    It ends on the line where the last print that it does not repeat begins.
    """
    most, passage, whole = 0, (0, 0), set[int]()
    current: set[int] = set()
    start = new = end = 0
    # only where prints begin and end is looked at: a run over an empty stretch has as many lines as somebody likes
    for line, last, gram in sorted(_places(prints, weights)):
        if not current or line > end + MAX_GAP_LINES + 1:
            start, current = line, set()
        end = max(end, last)
        if gram not in current:
            current.add(gram)
            new = line
        if len(current) > most:
            most, passage, whole = len(current), (start, new), current
    return passage, {gram: weights[gram] for gram in whole}


def _places(prints: Prints, weights: Mapping[int, float]) -> Iterator[tuple[int, int, int]]:
    """Yield first line, last line and hash of each print that is one of these."""
    for gram, line, last in zip(*(prints[field].tolist() for field in ("hash", "line", "last")), strict=True):
        if gram in weights:
            yield line, last, gram
