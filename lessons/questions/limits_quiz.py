"""Numbers for the questions on the limits of attention."""

from __future__ import annotations

import math
from random import Random
from typing import Any


def possible_outputs(random: Random) -> dict[str, Any]:
    """A weighted mean lies strictly between the smallest and the largest value."""
    values = random.sample(range(-9, 10), 4)
    low, high, total = min(values), max(values), sum(values)
    if high - low < 4 or low - 1 < total < high + 1:
        return possible_outputs(random)
    inside = random.sample([low + each / 2 for each in range(1, 2 * (high - low))], 2)
    outside = random.choice([low - 1.5, high + 1.5])
    options = [{"text": f"{each:g}", "right": True, "tag": ""} for each in inside]
    options += [
        {"text": f"{outside:g}", "right": False, "tag": "limits-outside-the-values"},
        {"text": str(total), "right": False, "tag": "limits-attention-adds"},
    ]
    return {"values": values, "low": low, "high": high, "sum": total, "options": options}


def doubled_text(random: Random) -> dict[str, Any]:
    """The share of a token stays when the whole text is repeated."""
    total, times = random.choice([5, 8, 10, 12, 20, 25]), random.choice([2, 3, 4])
    count = random.randint(1, total // 2)
    answer = count / total
    return {"count": count, "total": total, "times": times, "answer": answer, "grown": times * answer,
            "wrong": {"limits-attention-adds": times * answer}}  # fmt: skip


def diluted(random: Random) -> dict[str, Any]:
    """The weight of a key that is r times as heavy as each of n − 1 others: r / (r + n − 1)."""
    ratio, n = random.choice([10, 15, 20, 25, 30, 40, 50]), random.choice([101, 201, 501, 1001, 2001, 5001])
    answer, odds = ratio / (ratio + n - 1), ratio / (ratio + 1)
    return {"ratio": ratio, "n": n, "others": n - 1, "odds": odds, "ten": ratio / (ratio + 9), "answer": answer,
            "wrong": {"limits-best-takes-all": 1, "limits-odds-for-share": odds}}  # fmt: skip


def gap(random: Random) -> dict[str, Any]:
    """By how much a gap must grow: ln of how many times as many others there are."""
    near, times = random.choice([50, 100, 200, 500]), random.choice([4, 5, 8, 10, 20, 40, 100])
    far = near * times
    return {"short": near + 1, "long": far + 1, "near": near, "far": far, "times": times, "answer": math.log(times),
            "wrong": {"limits-gap-stays": 0, "limits-gap-by-ratio": times}}  # fmt: skip


def pairs(random: Random) -> dict[str, Any]:
    """Pairs grow with the square of the length."""
    short, times = random.choice([500, 1000, 2000, 4000]), random.choice([3, 4, 5, 8, 10, 12])
    return {"short": short, "long": short * times, "times": times, "answer": times**2,
            "wrong": {"limits-cost-linear": times, "limits-cost-doubled": 2 * times}}  # fmt: skip


def reach(random: Random) -> dict[str, Any]:
    """L layers with a window of w reach L (w − 1) tokens back."""
    layers, window = random.randint(3, 9), random.randint(4, 16)
    before = window - 1
    return {"layers": layers, "window": window, "before": before, "answer": layers * before,
            "wrong": {"limits-one-layer-reach": before, "limits-window-without-self": layers * window}}  # fmt: skip
