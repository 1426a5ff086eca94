"""Numbers for the questions on a language with a known floor."""

from __future__ import annotations

import math
from random import Random
from typing import Any

Values = dict[str, Any]


def floor(random: Random) -> Values:
    """The entropy of a text whose places have so many equal choices."""
    while True:
        counts = [random.choice([1, 2, 3, 4, 5, 8, 16]) for _ in range(random.choice([3, 4]))]
        logs = [math.log(count) for count in counts]
        answer, real = sum(logs) / len(logs), [log for log in logs if log]
        if counts.count(1) != 1:
            continue
        wrong = {"two-bits-for-nats": answer / math.log(2), "two-log-of-mean": math.log(sum(counts) / len(counts)),
                 "two-sum-for-mean": sum(logs), "two-certain-costs": sum(real) / len(real)}  # fmt: skip
        values = [answer, *wrong.values()]
        if all(abs(a - b) > 0.02 for i, a in enumerate(values) for b in values[:i]):
            break
    shown = ", ".join(map(str, counts[:-1])) + f" and {counts[-1]}"
    return {"length": len(counts), "counts": shown, "listed": counts, "logs": ", ".join(f"ln {k}" for k in counts),
            "answer": answer, "wrong": wrong}  # fmt: skip


def first_loss(random: Random) -> Values:
    """The loss of equal logits."""
    vocab = random.choice([10, 15, 20, 23, 26, 30, 40, 50, 65, 80, 100, 128, 200, 256, 300, 500, 1000, 2000, 5000])
    wrong = {"two-bits-for-nats": math.log2(vocab), "two-perplexity-for-loss": float(vocab)}
    return {"vocab": vocab, "answer": math.log(vocab), "wrong": wrong}
