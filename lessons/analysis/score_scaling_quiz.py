"""Numbers for the questions on the scale of scores."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from grader.api.questions import are_far_apart

Values = dict[str, Any]


def at_the_start(random: Random) -> Values:
    """The standard deviation of raw scores in a model that has just been made."""
    while True:
        width, d_head = random.choice([64, 128, 256, 512, 768, 1024]), random.choice([16, 32, 64, 128])
        sigma = random.choice([0.01, 0.02, 0.03, 0.04, 0.05])
        component = width * sigma**2
        answer = math.sqrt(d_head) * component
        wrong = {"scale-adds-deviations": d_head * component, "scale-one-map-only": math.sqrt(d_head * component),
                 "scale-already-divided": component, "scale-variance-for-std": answer**2}  # fmt: skip
        if are_far_apart(answer, *wrong.values(), least=0.05):
            break
    return {"D": width, "d_head": d_head, "sigma": sigma, "component": component, "answer": answer, "wrong": wrong}


ROWS = [(1, 1), (2, 1, 1), (4, 2, 1, 1), (8, 4, 2, 2), (3, 1), (6, 1, 1), (2, 2, 1, 1, 2), (1, 1, 1, 1), (7, 1), (9, 1),
        (5, 3, 2), (8, 1, 1), (7, 2, 1), (4, 3, 3), (6, 2, 2)]  # fmt: skip


def entropy(random: Random) -> Values:
    """The entropy of a row with a few weights of 0."""
    while True:
        shares = random.choice(ROWS)
        p = [share / sum(shares) for share in shares] + [0.0] * random.choice([1, 2])
        random.shuffle(p)
        real = [each for each in p if each]
        answer = -sum(each * math.log(each) for each in real)
        wrong = {"scale-entropy-bits": answer / math.log(2), "scale-entropy-equal-keys": math.log(len(p)),
                 "scale-entropy-unweighted": -sum(map(math.log, real)) / len(real)}  # fmt: skip
        if abs(wrong["scale-entropy-unweighted"] - answer) < 0.02:  # all that are not 0 are equal
            del wrong["scale-entropy-unweighted"]
        if are_far_apart(answer, *wrong.values(), least=0.02):
            break
    shown = [f"{each:.4g}" for each in p]
    return {"weights": ", ".join(shown[:-1]) + f" and {shown[-1]}", "keys": len(p), "listed": p,
            "most": math.log(len(p)), "terms": " + ".join(f"{each:.4g} · {-math.log(each):.4f}" for each in real),
            "answer": answer, "wrong": wrong}  # fmt: skip


def jacobian(random: Random) -> Values:
    """The norm of the Jacobian of two weights."""
    a = random.choice([0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98])
    slope = round(a * (1 - a), 6)
    wrong = {"scale-diagonal-alone": slope * math.sqrt(2), "scale-norm-without-root": 4 * slope**2,
             "scale-one-entry": slope}  # fmt: skip
    return {"a": a, "rest": round(1 - a, 6), "slope": slope, "answer": round(2 * slope, 6), "wrong": wrong}


def way_back(random: Random) -> Values:
    """The gradient of a query that has taken the scale in."""
    factor, length = random.choice([2, 4, 8, 16]), random.choice([0.1, 0.2, 0.3, 0.5, 0.6, 1.5, 2.5])
    wrong = {"scale-not-in-gradient": length, "scale-gradient-upside-down": length / factor,
             "scale-gradient-squared": length * factor**2}  # fmt: skip
    return {"scale": 1 / factor, "factor": factor, "length": length, "answer": length * factor, "wrong": wrong}
