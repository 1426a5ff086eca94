"""Numbers for the questions on an encoder that sorts, with positions and without."""

from __future__ import annotations

import math
from collections import Counter
from random import Random
from typing import Any

Values = dict[str, Any]


def _list(random: Random, low: int, high: int) -> tuple[list[int], list[int]]:
    """A list in which some number stands more than once, and how often each of its numbers does."""
    while True:
        numbers = [random.randrange(1, 10) for _ in range(random.randint(low, high))]
        counts = sorted(Counter(numbers).values())
        if 1 < len(counts) < len(numbers) and counts[0] < counts[-1]:
            return numbers, counts


def share_of_orders(random: Random) -> Values:
    """One order of all the different ones."""
    numbers, counts = _list(random, 4, 7)
    size = len(numbers)
    answer = math.prod(map(math.factorial, counts)) / math.factorial(size)
    wrong = {"so-repeats-are-new": 1 / math.factorial(size), "so-one-place": 1 / size, "so-all-orders": 1.0}
    if round(1 / answer) == size:  # one number and its like: as many orders as places
        return share_of_orders(random)
    shown = " · ".join(f"{count}!" for count in counts if count > 1)
    return {"numbers": " ".join(map(str, numbers)), "listed": numbers, "size": size, "repeats": shown,
            "orders": round(1 / answer), "answer": answer, "wrong": wrong}  # fmt: skip


def least_loss(random: Random) -> Values:
    """The entropy of how often each number is there."""
    numbers, counts = _list(random, 4, 8)
    size = len(numbers)
    answer = -sum(count / size * math.log(count / size) for count in counts)
    wrong = {"so-all-alike": math.log(len(counts)), "so-repeats-are-new": math.log(size),
             "so-bits": answer / math.log(2), "so-copies": 0.0}  # fmt: skip
    if len({round(each, 2) for each in (answer, *wrong.values())}) < 5:
        return least_loss(random)
    shown = ", ".join(f"{count}/{size}" for count in counts)
    return {
        "numbers": " ".join(map(str, numbers)),
        "listed": numbers,
        "shares": shown,
        "answer": answer,
        "wrong": wrong,
    }


def reordered(random: Random) -> Values:
    """The answer goes where its number goes."""
    while True:
        numbers, said = random.sample(range(1, 30), 5), random.sample(range(1, 30), 5)
        order = random.sample(range(5), 5)
        place = random.randrange(5)
        now = [numbers[at] for at in order]
        answer, wrong = said[order[place]], {
            "so-answer-stays": said[place], "so-it-sorts": sorted(numbers)[place], "so-copies-number": now[place],
            "so-way-back": said[order.index(place)],
        }  # fmt: skip
        if len({answer, *wrong.values()}) == 5:
            break
    row = " ".join
    return {"numbers": row(map(str, numbers)), "said": row(map(str, said)), "now": row(map(str, now)),
            "place": place, "number": now[place], "before": order[place], "listed": numbers, "answers": said,
            "order": order, "answer": answer, "wrong": wrong}  # fmt: skip
