"""What generators of questions often need. Plain Python: a quiz starts without torch."""

from __future__ import annotations

from random import Random

SIZES = (2, 3, 4, 5, 6, 7, 9, 10, 11, 13)


def different(random: Random, count: int, among: tuple[int, ...] = SIZES) -> list[int]:
    """Sizes of which no two are equal, so that a wrong axis shows."""
    return random.sample(among, count)


def heads_and_width(random: Random, widths: tuple[int, ...] = (8, 12, 16, 24, 32, 64, 128)) -> tuple[int, int, int]:
    """h, d and d/h, none of them equal."""
    while True:
        d = random.choice(widths)
        h = random.choice([each for each in (2, 3, 4, 6, 8) if d % each == 0])
        if len({h, d, d // h}) == 3:
            return h, d, d // h


def around(random: Random, low: float, high: float, step: float = 0.1) -> float:
    """A number between the two in steps, written without needless digits."""
    return round(low + step * random.randrange(round((high - low) / step) + 1), 6)
