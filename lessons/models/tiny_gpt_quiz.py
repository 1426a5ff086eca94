"""Numbers for the questions on a GPT that writes."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import are_far_apart

Values = dict[str, Any]


def witten_bell(random: Random) -> Values:
    """A probability of a table, out of its counts and a shorter context."""
    while True:
        kinds, seen = random.randrange(2, 9), random.choice([10, 12, 15, 20, 24, 30, 40, 50, 60])
        times, shorter = random.randrange(1, seen - kinds + 2), random.choice([0.02, 0.05, 0.1, 0.2, 0.25, 0.4])
        answer = (times + kinds * shorter) / (seen + kinds)
        wrong = {"tiny-counts-alone": times / seen, "tiny-more-than-one": (times + kinds * shorter) / seen,
                 "tiny-shares-exchanged": (kinds * times / seen + seen * shorter) / (seen + kinds)}  # fmt: skip
        if are_far_apart(answer, *wrong.values()):
            break
    return {"n": seen, "k": kinds, "times": times, "shorter": shorter, "answer": answer, "wrong": wrong}


def numbers(random: Random) -> Values:
    """The numbers of a model of some sizes."""
    vocab, heads, layers = random.choice([50, 65, 83, 100, 128]), random.choice([2, 4]), random.choice([2, 3, 4, 6])
    width = random.choice([32, 48, 64, 96, 128])
    hidden = random.choice([2, 3, 4]) * width
    block = 4 * width**2 + 2 * width * hidden + hidden + width + 4 * width
    answer = vocab * width + layers * block + 2 * width
    wrong = {"tiny-untied": answer + vocab * width, "tiny-per-head": answer + layers * 4 * width**2 * (heads - 1),
             "tiny-position-table": answer + 64 * width}  # fmt: skip
    return {"vocab": vocab, "width": width, "heads": heads, "layers": layers, "hidden": hidden, "answer": answer,
            "wrong": wrong}  # fmt: skip


def how_often(random: Random) -> Values:
    """How often each character of a text is a target."""
    size, steps = random.choice([100_000, 150_000, 200_000, 500_000, 1_000_000]), random.choice([500, 1000, 2000, 5000])
    rows, length = random.choice([8, 12, 16, 24]), random.choice([32, 64, 128])
    answer = steps * rows * length / size
    wrong = {"tiny-one-window": steps * length / size, "tiny-one-place": steps * rows / size}
    return {"size": size, "steps": steps, "rows": rows, "length": length, "answer": answer, "wrong": wrong}
