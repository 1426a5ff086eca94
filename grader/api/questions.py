"""What the generators of a quiz file may import. Plain Python: a quiz starts without torch.

Drawing numbers, from the `random.Random` that a generator is given:

    SIZES             sizes to draw from, small and pairwise different
    distinct_sizes    draw sizes of which no two are equal
    heads_and_width   draw a number of heads and a width that it divides

Texts:

    fill              put drawn values into a text with {names}

Values are drawn with the functions of `random` where nothing here fits.
"""

from __future__ import annotations

from random import Random

from grader.quiz.placeholders import fill

__all__ = ["SIZES", "distinct_sizes", "fill", "heads_and_width"]

SIZES = (2, 3, 4, 5, 6, 7, 9, 10, 11, 13)


def distinct_sizes(random: Random, count: int, among: tuple[int, ...] = SIZES) -> list[int]:
    """Draw sizes of which no two are equal, so that a wrong axis shows."""
    return random.sample(among, count)


def heads_and_width(random: Random, widths: tuple[int, ...] = (8, 12, 16, 24, 32, 64, 128)) -> tuple[int, int, int]:
    """Draw h heads and a width d. Returns h, d and d/h, none of them equal."""
    while True:
        d = random.choice(widths)
        h = random.choice([each for each in (2, 3, 4, 6, 8) if d % each == 0])
        if len({h, d, d // h}) == 3:
            return h, d, d // h
