"""What the generators of a quiz file may import. Plain Python: a quiz starts without torch.

Drawing numbers, from the `random.Random` that a generator is given:

    SIZES             sizes to draw from, small and pairwise different
    distinct_sizes    draw sizes of which no two are equal
    heads_and_width   draw a number of heads and a width that it divides
    dot               the product of two vectors
    are_far_apart     whether answers differ by more than a reader's rounding
    spoil_line        draw one of the ways in which a line of a source is wrong

Texts:

    fill              put drawn values into a text with {names}

Values are drawn with the functions of `random` where nothing here fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from grader.quiz.placeholders import fill

__all__ = ["SIZES", "are_far_apart", "distinct_sizes", "dot", "fill", "heads_and_width", "spoil_line"]

Spoilt = tuple[int, str, int, str, str]  # a line's number, what stands there, the line blamed for it, symptom, reason

SIZES = (2, 3, 4, 5, 6, 7, 9, 10, 11, 13)


def distinct_sizes(random: Random, count: int, among: tuple[int, ...] = SIZES) -> list[int]:
    """Draw sizes of which no two are equal, so that a wrong axis shows."""
    return random.sample(among, count)


def dot(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the product of two vectors of one length; it is whole where all their numbers are."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def heads_and_width(random: Random, widths: tuple[int, ...] = (8, 12, 16, 24, 32, 64, 128)) -> tuple[int, int, int]:
    """Draw h heads and a width d. Returns h, d and d/h, none of them equal."""
    while True:
        d = random.choice(widths)
        h = random.choice([each for each in (2, 3, 4, 6, 8) if d % each == 0])
        if len({h, d, d // h}) == 3:
            return h, d, d // h


def are_far_apart(*numbers: float, least: float = 0.02) -> bool:
    """Return True if each two differ by more than this share of the larger."""
    return all(abs(a - b) > least * max(abs(a), abs(b)) for i, a in enumerate(numbers) for b in numbers[:i])


def spoil_line(random: Random, source: str, ways: Sequence[Spoilt], tag: str) -> dict[str, Any]:
    """Draw a way to spoil one line of a source, for the question which line is wrong.

    Args:
        tag: Of the misconception that the line is wrong in which the fault is seen.
    """
    number, spoilt, blamed, symptom, why = random.choice(ways)
    lines = source.split("\n")
    fix = lines[number - 1].strip()
    lines[number - 1] = lines[number - 1].removesuffix(fix) + spoilt
    told = {"answer": number, "fix": fix, "symptom": symptom, "why": why}
    return {"code": "\n".join(lines), **told, "wrong": {tag: blamed}}
