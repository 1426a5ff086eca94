"""Numbers for the questions on heads that can be found."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import are_far_apart

Values = dict[str, Any]


def where(random: Random) -> Values:
    """The place where an induction head looks."""
    period = random.randint(4, 8)
    run = random.sample("abcdefghijkmnopqrstuvwxyz", period)
    tokens = period + random.randint(3, period - 1)
    query = random.randint(period + 1, tokens - 1)
    answer = query - period + 1
    wrong = {"ind-copies-itself": query - period, "ind-one-too-early": query - period - 1}
    if query - 1 != answer:
        wrong["ind-looks-one-back"] = query - 1
    return {"text": " ".join((run * 2)[:tokens]), "query": query, "token": (run * 2)[query], "period": period,
            "former": query - period, "answer": answer, "wrong": wrong}  # fmt: skip


CAUSAL = [(10,), (7, 3), (5, 4, 1), (4, 3, 2, 1), (6, 2, 1, 1), (3, 3, 2, 2)]


def score(random: Random) -> Values:
    """The induction score of a small map."""
    while True:
        period = random.choice([2, 3])
        rows = []
        for query in range(5):
            tenths = [*random.choice(CAUSAL[: query + 1])]
            tenths += [0] * (query + 1 - len(tenths))
            random.shuffle(tenths)
            rows.append([each / 10 for each in tenths] + [0.0] * (4 - query))
        right = [rows[i][i - period + 1] for i in range(period, 5)]
        answer = sum(right) / len(right)
        wrong = {
            "ind-copies-itself": sum(rows[i][i - period] for i in range(period, 5)) / len(right),
            "ind-first-copy-counted": (rows[period - 1][0] + sum(right)) / (len(right) + 1),
            "ind-best-for-mean": max(right),
            "ind-divided-by-all": sum(right) / 5,
        }
        if are_far_apart(answer, *wrong.values(), least=0.02) and answer:
            break
    table = "\n".join(
        f"query {i}    " + "  ".join(f"{each:.1f}" for each in row).rstrip() for i, row in enumerate(rows)
    )
    added = " + ".join(f"{each:g}" for each in right)
    return {"table": table, "rows": rows, "period": period, "added": added, "count": len(right),
            "first": period, "answer": round(answer, 6), "wrong": wrong}  # fmt: skip


def alike(random: Random) -> Values:
    """What a head gets that looks everywhere alike."""
    while True:
        period = random.randint(4, 12)
        tokens = period + random.randint(2, 4)
        terms = [1 / (i + 1) for i in range(period, tokens)]
        answer = sum(terms) / len(terms)
        wrong = {"ind-nothing-is-zero": 0.0, "ind-every-key": 1 / tokens, "ind-divided-by-all": sum(terms) / tokens,
                 "ind-first-copy-counted": sum(1 / (i + 1) for i in range(tokens)) / tokens}  # fmt: skip
        if are_far_apart(answer, *wrong.values(), least=0.004):
            break
    return {"period": period, "tokens": tokens, "last": tokens - 1, "count": len(terms),
            "added": " + ".join(f"1/{i + 1}" for i in range(period, tokens)), "answer": answer,
            "wrong": wrong}  # fmt: skip
