"""Compute the geometry of the charts on a page, which a template draws as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

BINS = tuple(range(1, 11))  # 1.0-1.9, ..., 9.0-9.9, and 10.0 alone: only flawless work has it
HEAT_BOUNDS = (0.4, 0.6, 0.75, 0.85, 0.95)


@dataclass(frozen=True)
class Bar:
    """One bar, in units of the picture; `label` stands below it, `count` above."""

    x: float
    y: float
    width: float
    height: float
    count: int
    label: str
    says: str


@dataclass(frozen=True)
class Histogram:
    """The bars of a distribution of scores, and the same in words."""

    width: int
    height: int
    base: float  # the y of the axis
    text: float  # size of the letters
    bars: tuple[Bar, ...]
    says: str


def score_bins(scores: Sequence[float]) -> list[int]:
    """Count the scores in each of BINS."""
    counts = [0] * len(BINS)
    for score in scores:
        counts[min(max(int(score), 1), 10) - 1] += 1
    return counts


def histogram(scores: Sequence[float], width: int, height: int, text: float) -> Histogram:
    """Draw scores as bars in a picture of `width` by `height`, with letters of size `text` below and above them."""
    counts = score_bins(scores)
    base = height - text * 1.5
    tallest = base - text * 1.6
    step = width / len(BINS)
    bars = []
    for index, (bin_, count) in enumerate(zip(BINS, counts, strict=True)):
        length = max(round(tallest * count / max(counts), 1), 1.0) if count else 0.0
        x, y, thickness = round(index * step + step * 0.09, 1), round(base - length, 1), round(step * 0.82, 1)
        bars.append(Bar(x, y, thickness, length, count, str(bin_), f"{_bin_text(bin_)}: {count}"))
    filled = [bar.says for bar in bars if bar.count]
    return Histogram(width, height, round(base, 1), text, tuple(bars), "; ".join(filled) or "no score")


def _bin_text(bin_: int) -> str:
    return "10.0" if bin_ == BINS[-1] else f"{bin_}.0 to {bin_}.9"


def heat(share: float | None) -> str:
    """Return the class of a cell's colour: h0 for the weakest to h5 for the strongest; "" without a share."""
    return "" if share is None else f"h{sum(share >= bound for bound in HEAT_BOUNDS)}"


def heat_legend() -> list[tuple[str, str]]:
    """Return each colour's class and what it stands for."""
    bounds = [0.0, *HEAT_BOUNDS, 1.0]
    return [
        (f"h{step}", f"{low:.0%} to {high:.0%}" if step else f"below {high:.0%}")
        for step, (low, high) in enumerate(pairwise(bounds))
    ]


def score_share(score: float | None) -> float | None:
    """Convert a score from 1 to 10 to the share of the points earned."""
    return None if score is None else (score - 1) / 9
