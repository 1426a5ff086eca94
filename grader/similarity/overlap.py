"""Code that two files share beyond what is common: how much, how rare, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grader.similarity.class_index import ClassIndex
from grader.similarity.rare_prints import Hashes
from grader.similarity.solution import Solution
from grader.similarity.winnowing import RUN_LENGTH, Prints

MAX_GAP_LINES = 2  # between two pieces of one passage
MAX_LINES = 1 << 16  # that a print can tell apart


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
    prints_of = index.own_prints_of if index.are_twins(first, second) else index.rare_prints
    own = [prints_of(first), prints_of(second)]
    shared = np.intersect1d(own[0].hashes, own[1].hashes, assume_unique=True)
    if not len(shared):
        return None
    covers = [one.cover(one.choose(shared)) for one in own]
    tokens = [int(np.count_nonzero(cover)) for cover in covers]
    whole = [one.tokens for one in own]
    shorter = whole.index(min(whole))
    places = own[0].prints(own[0].choose(shared))
    passage, within = _largest_passage(places)
    return Overlap(
        min(tokens),
        float(min(cover.sum() for cover in covers)),
        tokens[shorter] / whole[shorter],
        _count_lines(places),
        passage,
        _largest_passage(own[1].prints(own[1].choose(within)))[0],
    )


def _count_lines(prints: Prints) -> int:
    """Return on how many lines these prints are.

    A run that goes over an empty stretch, as from cell to cell of a notebook, is on its ends alone.
    """
    lines, lasts = (prints[field].astype(np.int64) for field in ("line", "last"))
    found = np.zeros(MAX_LINES, dtype=np.bool_)
    found[lines] = found[lasts] = True
    for down in range(1, RUN_LENGTH - 1):
        found[lines[(lasts - lines < RUN_LENGTH) & (lines + down < lasts)] + down] = True
    return int(np.count_nonzero(found))


def _largest_passage(prints: Prints) -> tuple[tuple[int, int], Hashes]:
    """Return the first and last line of the first passage with most of these prints, and their hashes.

    The lines of prints go up, as a file has them. A passage ends on the line where the last print begins that it does
    not repeat.
    """
    # only where prints begin and end is looked at: a run over an empty stretch has as many lines as somebody likes
    lines, hashes = prints["line"].astype(np.int64), prints["hash"].astype(np.int64)
    ends = np.maximum.accumulate(prints["last"].astype(np.int64))
    passages = np.cumsum(lines > np.append(lines[:1], ends[:-1]) + MAX_GAP_LINES + 1)
    new = np.unique((passages << 32) | hashes, return_index=True)[1]
    most = np.bincount(passages[new]).argmax()
    new = new[passages[new] == most]
    first = int(lines[passages == most][0])
    return (first, int(lines[new.max()])), prints["hash"][new]
