"""Numbers and code for the questions on cross-entropy and perplexity."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from grader.api.questions import are_far_apart, spoil_line

Values = dict[str, Any]


def left_out(random: Random) -> Values:
    """Two padded texts of different lengths, with the losses of their tokens."""
    while True:
        lengths = random.sample(range(1, 5), 2)
        places = max(lengths) + random.randrange(1, 3)
        rows = [[random.randrange(1, 13) / 2 for _ in range(length)] for length in lengths]
        every = rows[0] + rows[1]
        answer = sum(every) / len(every)
        wrong = {
            "ce-counts-padding": sum(every) / (2 * places),
            "ce-averages-rows-first": sum(sum(row) / len(row) for row in rows) / 2,
            "ce-forgets-to-average": sum(every),
        }
        if are_far_apart(answer, *wrong.values()):
            break
    return {"T": places, "places": 2 * places, "count": len(every), "first": _listed(rows[0]),
            "second": _listed(rows[1]), "added": " + ".join(map(_short, every)), "listed": ", ".join(map(str, every)),
            "answer": answer, "wrong": wrong}  # fmt: skip


def smoothed(random: Random) -> Values:
    """The loss with label smoothing where all wrong classes are equally likely."""
    while True:
        others, epsilon = random.choice([2, 3, 4, 9]), random.choice([0.1, 0.2, 0.3, 0.5])
        p = random.choice([0.2, 0.5, 0.7, 0.8, 0.9, 0.95])
        a, b = round(-math.log(p), 2), round(-math.log((1 - p) / others), 2)
        mean = (a + others * b) / (others + 1)
        answer = (1 - epsilon) * a + epsilon * mean
        wrong = {
            "ce-smoothing-spares-target": (1 - epsilon) * a + epsilon * b,
            "ce-smoothing-only-scales": (1 - epsilon) * a,
            "ce-smoothing-comes-on-top": a + epsilon * mean,
        }
        if are_far_apart(answer, *wrong.values()):
            break
    return {"a": a, "b": b, "others": others, "V": others + 1, "epsilon": epsilon, "answer": answer, "wrong": wrong}


def batches(random: Random) -> Values:
    """The perplexity of two batches of different sizes."""
    while True:
        n1, n2 = random.choice([60, 80, 90, 120, 150]), random.choice([10, 20, 30, 40])
        l1, l2 = random.choice([0.5, 1.0, 1.5, 2.0]), random.choice([2.5, 3.0, 3.5, 4.0])
        mean = (n1 * l1 + n2 * l2) / (n1 + n2)
        answer = math.exp(mean)
        wrong = {
            "ce-averages-perplexities": (n1 * math.exp(l1) + n2 * math.exp(l2)) / (n1 + n2),
            "ce-batches-weigh-the-same": math.exp((l1 + l2) / 2),
            "ce-loss-for-perplexity": mean,
        }
        if are_far_apart(answer, *wrong.values()):
            break
    return {"n1": n1, "n2": n2, "n": n1 + n2, "l1": l1, "l2": l2, "mean": mean, "answer": answer, "wrong": wrong}


def vanished(random: Random) -> Values:
    """The loss of a class far below another, with and without making its probability."""
    low, gap = random.choice([0, 5, 20, -30, -100]), random.randrange(120, 700, 10)
    top = low + gap
    code = (
        f"x = torch.tensor([{low}.0, {top}.0])\n"
        "print(-x.softmax(0).log()[0].item())\n"
        "print((x.logsumexp(0) - x)[0].item())"
    )
    wrong = {
        "ce-softmax-cannot-vanish": f"{gap}.0 {gap}.0",
        "ce-log-softmax-overflows": "inf inf",
    }
    return {"low": low, "top": top, "gap": gap, "code": code, "answer": f"inf {gap}.0", "wrong": wrong}


LOSS = """\
def loss(logits, targets):
    keep = targets != -100
    safe = targets.masked_fill(~keep, 0)
    logp = logits.log_softmax(dim=-1)
    picked = logp.gather(-1, safe.unsqueeze(-1))
    cost = -picked.squeeze(-1)
    return cost[keep].mean()"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (2, "keep = targets == -100", 7, "the loss of a text without padding is NaN",
     "The mask is True where the padding is. What counts are the other places."),
    (2, "keep = targets > 0", 7, "tokens of class 0 make no difference to the loss",
     "Class 0 is a class like any other. Only -100 is left out: targets != -100."),
    (3, "safe = targets.masked_fill(keep, 0)", 5, "gather fails: an index is out of bounds",
     "The stand-in goes where the target does not count. Here it replaces the true targets, and -100 stays."),
    (3, "safe = targets.masked_fill(~keep, -1)", 5, "gather fails as soon as there is padding",
     "gather takes no index below 0. Any class may stand in, for its loss is dropped in the last line."),
    (4, "logp = logits.softmax(dim=-1)", 6, "the loss of a model that gives all V classes the same is −1/V, not ln V",
     "Those are probabilities. The loss is the logarithm of one: log_softmax."),
    (4, "logp = logits.log_softmax(dim=1)", 5, "with logits of zeros the loss is ln T, not ln V",
     "Axis 1 of (B, T, V) is that of the positions. The V classes, on the last axis, share out the probability."),
    (4, "logp = logits", 6, "the loss falls below 0, and on and on",
     "A logit is no log-probability: the logsumexp over the classes has not been taken off."),
    (6, "cost = picked.squeeze(-1)", 4, "training makes the text less and less likely",
     "That is ln p. The loss is −ln p: the minus is missing."),
    (7, "return cost[keep].sum()", 6, "a batch twice as large has a loss twice as large",
     "The sum grows with the number of tokens. The loss is their mean."),
    (7, "return (cost * keep).mean()", 2, "the same texts, padded further, have a smaller loss",
     "The padding adds nothing to the sum, but it is counted below the line. Divide by keep.sum()."),
    (7, "return cost.mean()", 3, "what the model says of class 0 at the padding changes the loss",
     "Class 0 only stands in at the padding. Its loss must be dropped: cost[keep]."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """A loss with one line spoilt, and what is seen of it."""
    return spoil_line(random, LOSS, SPOILT, "ce-blames-the-symptom")


def _short(number: float) -> str:
    return f"{number:g}"


def _listed(numbers: list[float]) -> str:
    return ", ".join(map(_short, numbers))
