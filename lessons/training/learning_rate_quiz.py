"""Numbers and code for the questions on the learning rate."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from grader.api.questions import spoil_line

Values = dict[str, Any]


def cosine(share: float) -> float:
    """Half a cosine from 1 to 0."""
    return 0.5 * (1 + math.cos(math.pi * share))


def rising(random: Random) -> Values:
    """The rate of a step of the warm-up."""
    warmup, top = random.choice([10, 20]), random.choice([1, 2, 4, 5])
    step = random.randrange(2, round(0.6 * warmup) + 1)  # later the wrong answers come near each other
    return {"warmup": warmup, "top": top, "step": step, "answer": top * step / warmup,
            "wrong": {"lr-counts-from-0": top * (step - 1) / warmup, "lr-no-rise": float(top),
                      "lr-divides-by-one-more": top * step / (warmup + 1)}}  # fmt: skip


def falling(random: Random) -> Values:
    """The rate at a quarter, a third, half, two thirds or three quarters of the fall."""
    while True:
        warmup, length = random.choice([10, 20, 40]), random.choice([120, 240, 360])
        top, low = random.choice([10, 8, 6]), random.choice([1, 2])
        share = random.choice([1 / 4, 1 / 3, 1 / 2, 2 / 3, 3 / 4])
        step, total = round(warmup + share * length), warmup + length
        answer = low + cosine(share) * (top - low)
        wrong = {"lr-cosine-from-0": low + cosine(step / total) * (top - low),
                 "lr-straight-fall": top - share * (top - low), "lr-floor-forgotten": cosine(share) * top,
                 "lr-floor-added": low + cosine(share) * top}  # fmt: skip
        wrong = {tag: each for tag, each in wrong.items() if abs(each - answer) > 0.02 * answer}
        numbers = [answer, *wrong.values()]
        if len(wrong) >= 3 and all(abs(a - b) > 0.02 * a for i, a in enumerate(numbers) for b in numbers[:i]):
            break
    return {"warmup": warmup, "total": total, "top": top, "low": low, "step": step, "length": length,
            "done": step - warmup, "share": share, "cosine": cosine(share), "answer": answer,
            "wrong": wrong}  # fmt: skip


def area(random: Random) -> Values:
    """The mean rate of a whole run with a floor of 0."""
    total, part = random.choice([1000, 2000, 5000]), random.choice([0.1, 0.2])
    top = random.choice([2, 4, 6])
    wrong = {"lr-mean-is-peak": float(top), "lr-mean-of-a-quarter": 2 * top / math.pi}
    return {"total": total, "warmup": round(part * total), "top": top, "answer": top / 2, "wrong": wrong}


SCHEDULE = """\
def lr_at(step, top, low, warmup, total):
    if step <= warmup:
        return top * step / warmup
    if step >= total:
        return low
    done = (step - warmup) / (total - warmup)
    share = 0.5 * (1 + math.cos(math.pi * done))
    return low + share * (top - low)"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (2, "if step < warmup - 1:", 6, "shortly before the warm-up ends the rate is above what it should be",
     "The warm-up is left one step too early. It lasts as long as step <= warmup."),
    (3, "return top * (step - 1) / warmup", 2, "the first step changes nothing", "Steps count from 1."),
    (3, "return low + (top - low) * step / warmup", 8, "halfway through the warm-up the rate is above half of top",
     "The warm-up is measured from low, and it begins at 0."),
    (3, "return top * (step // warmup)", 2, "all steps but the last of the warm-up change nothing",
     "// gives a whole number, which is 0 until step = warmup."),
    (4, "if step > 10 * total:", 7, "behind total the rate rises again", "The cosine goes on, and turns up."),
    (5, "return 0.0", 8, "at step = total the rate falls from nearly low to 0", "From total on it is low."),
    (6, "done = step / total", 7, "where the warm-up ends the rate jumps down",
     "A part of the cosine is over already. It begins at warmup."),
    (6, "done = (step - warmup) / total", 7, "at step = total the rate jumps down to low",
     "The way from warmup to total is total − warmup long."),
    (7, "share = math.cos(math.pi * done)", 8, "in the second half of the fall the rate is below low",
     "The cosine runs from 1 to −1. ½ (1 + …) brings that to 1 … 0."),
    (7, "share = 0.5 * (1 + math.cos(2 * math.pi * done))", 6, "behind the middle of the fall the rate rises",
     "2π is a whole period. The fall is half of one."),
    (8, "return low + share * top", 7, "the fall begins above top", "low comes on top of top. Scale by top − low."),
    (8, "return max(low, share * top)", 5, "some steps before total the rate does not fall any more",
     "The curve is cut off at low. It is to be squeezed between top and low."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """A schedule with one line spoilt, and what is seen of it."""
    return spoil_line(random, SCHEDULE, SPOILT, "lr-blames-the-symptom")
