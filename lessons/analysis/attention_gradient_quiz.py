"""Numbers and code for the questions on the gradient of attention."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import are_far_apart, spoil_line

Values = dict[str, Any]

ROWS = [(0.5, 0.3, 0.2), (0.6, 0.3, 0.1), (0.2, 0.7, 0.1), (0.4, 0.4, 0.2), (0.1, 0.8, 0.1), (0.25, 0.25, 0.5)]
SLOPES = [-4, -3, -2, -1, 1, 2, 3, 4, 5]


def three_keys(random: Random) -> Values:
    """The gradient at the first of three scores."""
    while True:
        (a, b, c), (x, y, z) = random.choice(ROWS), random.sample(SLOPES, 3)
        average = a * x + b * y + c * z
        answer = a * (x - average)
        wrong = {"grad-own-weight-only": a * (1 - a) * x, "grad-average-forgotten": a * x,
                 "grad-plain-average": a * (x - (x + y + z) / 3), "grad-not-times-weight": x - average}  # fmt: skip
        if are_far_apart(answer, *wrong.values(), least=0.05) and abs(answer) > 0.05:
            break
    return {"a": a, "b": b, "c": c, "x": x, "y": y, "z": z, "average": average, "more": x - average,
            "answer": round(answer, 6), "wrong": wrong}  # fmt: skip


def value_collects(random: Random) -> Values:
    """What one value collects from three queries."""
    while True:
        a, b, c = random.sample([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 0.9], 3)
        x, y, z = random.sample(SLOPES, 3)
        answer = a * x + b * y + c * z
        wrong = {"grad-one-query-only": b * y, "grad-value-gets-all": float(x + y + z),
                 "grad-queries-averaged": answer / 3}  # fmt: skip
        if are_far_apart(answer, *wrong.values(), least=0.05) and abs(answer) > 0.2:
            break
    return {"a": a, "b": b, "c": c, "x": x, "y": y, "z": z, "answer": round(answer, 6), "wrong": wrong}


def row_sum(random: Random) -> Values:
    """The sum over all keys, from the output and its gradient."""
    while True:
        width = random.choice([2, 3])
        out, d_out = ([random.choice([-3, -2, -1, 1, 2, 3, 4]) * 1.0 for _ in range(width)] for _ in "ab")
        products = [a * b for a, b in zip(out, d_out, strict=True)]
        answer = sum(products)
        wrong = {"grad-dot-averaged": answer / width, "grad-scale-everywhere": answer / width**0.5,
                 "grad-sizes-without-signs": sum(map(abs, products))}  # fmt: skip
        if are_far_apart(answer, *wrong.values(), least=0.05) and answer:
            break
    shown = " + ".join(f"({a:g})·({b:g})" for a, b in zip(d_out, out, strict=True))
    return {"width": width, "out": out, "d_out": d_out, "products": shown, "answer": answer, "wrong": wrong,
            "keys": random.choice([512, 1024, 2048, 4096, 8192])}  # fmt: skip


TWO = """\
def backward(q, k1, k2, v1, v2, g):
    a = 1 / (1 + math.exp(q * k2 - q * k1))
    da = g * (v1 - v2)
    ds1 = a * (1 - a) * da
    ds2 = -ds1
    dq = ds1 * k1 + ds2 * k2
    dk1, dk2 = ds1 * q, ds2 * q
    dv1, dv2 = g * a, g * (1 - a)
    return dq, dk1, dk2, dv1, dv2"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (2, "a = 1 / (1 + math.exp(q * k1 - q * k2))", 8, "the token with the larger score has the smaller dv",
     "That is the weight of token 2."),
    (3, "da = g * v1", 6, "with v1 = v2 the gradients of q and of the keys are not 0",
     "Weight that token 1 gains, token 2 loses: the slope of the output in a is v1 − v2."),
    (3, "da = v1 - v2", 7, "dq and dk stay as they are where g is doubled", "The chain begins with g."),
    (3, "da = g * (v2 - v1)", 7, "a step downhill takes q, k1 and k2 uphill", "The slope in a is v1 − v2."),
    (4, "ds1 = a * da", 6, "where a is nearly 1, q still gets a large gradient",
     "The softmax has the slope a(1 − a), which goes to 0."),
    (4, "ds1 = (1 - a) * da", 6, "where a is nearly 0, q still gets a large gradient",
     "The softmax has the slope a(1 − a), which goes to 0 at both ends."),
    (4, "ds1 = da", 6, "dq is the same for every a", "The softmax is left out: its slope is a(1 − a)."),
    (5, "ds2 = ds1", 7, "dk1 and dk2 are equal, and should be opposite",
     "A higher second score takes weight from token 1."),
    (5, "ds2 = -a * ds1", 6, "dk1 + dk2 is not 0", "The two scores have opposite gradients, whatever a is."),
    (6, "dq = ds1 * k1", 5, "with k1 = k2 the gradient of q is not 0", "q is in both scores, so both ways are added."),
    (6, "dq = ds1 * k1 - ds2 * k2", 5, "with k1 = k2 the gradient of q is not 0",
     "ds2 has its minus already: the ways are added."),
    (6, "dq = (ds1 + ds2) * q", 5, "dq is always 0", "The slope of q·k1 in q is k1, and that of q·k2 is k2."),
    (7, "dk1, dk2 = ds1 * k1, ds2 * k2", 4, "a key that is 0 gets no gradient", "The slope of q·k1 in k1 is q."),
    (8, "dv1, dv2 = g * (1 - a), g * a", 2, "the token with the larger weight has the smaller dv",
     "v1 is in the output with the weight a."),
    (8, "dv1, dv2 = g, g", 3, "a value that has the weight 0 gets a gradient",
     "It is in the output with its weight."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """A backward pass in numbers with one line spoilt, and what is seen of it."""
    return spoil_line(random, TWO, SPOILT, "grad-blames-the-symptom")
