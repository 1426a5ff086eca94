"""Numbers for the questions on the attention formula."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from grader.api.questions import SIZES, distinct_sizes, dot

SHARES = ((0.5, 0.3, 0.2), (0.6, 0.3, 0.1), (0.7, 0.2, 0.1), (0.5, 0.4, 0.1))  # rows of weights to calculate with
ROWS = ((0.6, 0.3, 0.1), (0.4, 0.4, 0.2), (0.7, 0.2, 0.1), (0.8, 0.1, 0.1), (0.98, 0.01, 0.01), (0.9, 0.08, 0.02))


def score_variance(random: Random) -> dict[str, Any]:
    """The variance of q·k for components that are independent with mean 0: d_k var(q) var(k)."""
    d_k = random.choice([8, 12, 24, 48, 96])
    var_q, var_k = random.sample([1, 2, 3, 5], 2)
    one = var_q * var_k
    answer = d_k * one
    wrong = {"std-for-variance": math.sqrt(answer), "one-component-variance": one, "scale-by-d-k": one / d_k,
             "unit-variance-always": d_k, "product-variances-added": d_k * (var_q + var_k)}  # fmt: skip
    return {"d_k": d_k, "var_q": var_q, "var_k": var_k, "one": one, "std": math.sqrt(answer), "answer": answer,
            "wrong": wrong}  # fmt: skip


def row_weight(random: Random) -> dict[str, Any]:
    """One weight of a row of three: softmax of scores that are multiples of ln 2 once they are divided by √d_k."""
    root = random.choice([2, 3, 4, 5, 6])
    powers = random.sample(range(4), 3)
    which = powers.index(random.choice([min(powers), max(powers)]))
    answer = 2 ** powers[which] / sum(2**power for power in powers)
    dots = [root * power for power in powers]
    wrong = {
        "scores-unscaled": 2 ** dots[which] / sum(2**dot for dot in dots),
        "scale-by-d-k": 2 ** (powers[which] / root) / sum(2 ** (power / root) for power in powers),
        "weights-without-exp": powers[which] / sum(powers),
    }
    parts = [2**power for power in powers]
    return {
        "answer": answer, "wrong": wrong, "d_k": root**2, "root": root, "which": which, "powers": str(powers),
        "dots": ", ".join(map(_ln2, dots)), "scaled": ", ".join(map(_ln2, powers)),
        "parts": ", ".join(map(str, parts)), "top": parts[which], "total": sum(parts),
        "unscaled": wrong["scores-unscaled"], "flat": wrong["scale-by-d-k"],
    }  # fmt: skip


def without_maps(random: Random) -> dict[str, Any]:
    """Cosines of a token with all: the largest is that with itself."""
    n, width = random.randint(4, 8), random.choice([8, 12, 16])
    rows = random.sample(range(n), 3)
    return {"seed": random.randrange(1000), "n": n, "width": width, "rows": str(rows), "answer": str(rows),
            "wrong": {"keys-of-others-only": str([(row + 1) % n for row in rows])}}  # fmt: skip


def _ln2(times: int) -> str:
    return "0" if times == 0 else "ln 2" if times == 1 else f"{times} ln 2"


def causal_weights(random: Random) -> dict[str, Any]:
    """Two tables that can be the weights of a causal head over three tokens, and three that cannot."""
    right = [_lower(random), _lower(random)]
    while right[0] == right[1]:
        right[1] = _lower(random)
    a, b, c = _row(random, 3)
    short = [[random.choice([2, 3, 4]), 0, 0], [a, b, 0], [b, a, c]]
    p, q = random.choice([2, 3, 4]), random.choice([3, 4, 6, 7])
    columns = [[p, 0, 0], [10 - p - 2, q, 0], [2, 10 - q, 10]]
    below = random.choice([1, 2, 3])
    wrong = [
        ("mask-after-softmax", short),
        ("mask-transposed", [[a, b, c], [0, q, 10 - q], [0, 0, 10]]),
        ("softmax-over-queries", columns),
        ("negative-weights", [[10, 0, 0], [-below, 10 + below, 0], [c, a, b]]),
        ("mask-ignored", [[a, c, b], [c, a, b], [b, c, a]]),
    ]
    options = [{"text": _table(table), "right": True} for table in right]
    options += [{"text": _table(table), "right": False, "tag": tag} for tag, table in random.sample(wrong, 3)]
    return {"options": options}


def _row(random: Random, count: int) -> list[int]:
    """Tenths that add up to 10, none of them 0."""
    cuts = sorted(random.sample(range(1, 10), count - 1))
    return [high - low for low, high in zip([0, *cuts], [*cuts, 10], strict=True)]


def _lower(random: Random) -> list[list[int]]:
    return [[10, 0, 0], [*_row(random, 2), 0], _row(random, 3)]


def _table(tenths: list[list[int]]) -> str:
    return "[" + ", ".join("[" + ", ".join(f"{each / 10:g}" for each in row) + "]" for row in tenths) + "]"


LINES = (
    "def attend(q, k, v, mask):",
    "    d_k = q.size(-1)",
    "    scores = q @ k.transpose(-2, -1)",
    "    scores = scores / d_k**0.5",
    "    scores = scores.masked_fill(~mask, -torch.inf)",
    "    weights = scores.softmax(dim=-1)",
    "    return weights @ v",
)
BUGS = (  # the number of a line, what stands there, why it is wrong
    (2, "d_k = q.size(-2)", "q.size(-2) is T, the number of queries. The scores are sums of d_k terms, so their spread "
     "grows with √d_k, the last size of q."),
    (2, "d_k = v.size(-1)", "That is d_v, the width of the values. The dot products have d_k terms, as many as a query "
     "has components."),
    (3, "scores = q @ k.reshape(k.size(0), k.size(2), k.size(1))", "The shape is right, the numbers are not: reshape "
     "lays them out anew in the order of memory, so a column is no longer one key."),
    (3, "scores = k @ q.transpose(-2, -1)", "That makes a row of each key, (B, S, T), but the mask and the softmax "
     "below take a row for a query."),
    (4, "scores = scores / d_k", "The standard deviation of a dot product is √d_k. Divided by d_k the scores are too "
     "small, and every query attends to all keys nearly alike."),
    (4, "scores = scores * d_k**0.5", "That enlarges the scores. They are divided by their standard deviation √d_k, so "
     "that the softmax does not begin saturated."),
    (5, "scores = scores.masked_fill(mask, -torch.inf)", "Where the mask is True the query may read, and just these "
     "scores are replaced here. It is the others that must become −∞."),
    (5, "scores = scores.masked_fill(~mask, 0.0)", "A score of 0 blocks nothing, for exp(0) = 1. With −∞ the weight is "
     "exactly 0, and the others still sum to 1."),
    (6, "weights = scores.softmax(dim=-2)", "Axis −2 is that of the queries, so columns would sum to 1. Each query "
     "shares out 1 among its keys, along the last axis."),
    (7, "return weights @ k", "The weights say where to read; what is read are the values. Keys only serve to be "
     "compared with."),
)  # fmt: skip
BLAMED = {"transpose-to-fit": 3, "scale-by-d-k": 4, "softmax-over-queries": 6}  # right lines, by who would blame them


def planted_mistake(random: Random) -> dict[str, Any]:
    """The formula as code, one line of it wrong."""
    line, planted, why = random.choice(BUGS)
    code = "\n".join(f"    {planted}" if number == line else text for number, text in enumerate(LINES, 1))
    wrong = {tag: blamed for tag, blamed in BLAMED.items() if blamed != line}
    return {"code": code, "answer": line, "fix": LINES[line - 1].strip(), "why": why, "wrong": wrong}


def shapes(random: Random) -> dict[str, Any]:
    """The shapes of one head's formula for T tokens of width D."""
    n, d_k, d_v = distinct_sizes(random, 3, tuple(size for size in SIZES if size > 2))
    d = random.choice([12, 16, 20, 24])
    wrong = [
        {"tag": "scores-over-features", "blank": 2, "shape": [d_k, d_k]},
        {"tag": "output-as-wide-as-x", "blank": 3, "shape": [n, d]},
        {"tag": "output-as-wide-as-queries", "blank": 3, "shape": [n, d_k]},
        {"tag": "output-is-a-table", "blank": 3, "shape": [n, n]},
    ]
    return {"n": n, "d": d, "d_k": d_k, "d_v": d_v, "answer": [(n, d_k), (n, n), (n, d_v)], "wrong": wrong}


def output_component(random: Random) -> dict[str, Any]:
    """One component of a query's output: the mean of the values' components, weighted by its row."""
    weights = random.sample(random.choice(SHARES), 3)
    column = random.randrange(3)
    while True:
        values = [random.sample(range(10), 3) for _ in range(3)]
        taken = [row[column] for row in values]
        answer = _dot(weights, taken)
        similar, hard, plain = (
            _dot(weights, values[column]),
            taken[weights.index(max(weights))],
            round(sum(taken) / 3, 6),
        )
        if len({round(each, 2) for each in (answer, similar, hard, plain)}) == 4:
            break
    lines = [f"weights = {weights}   # of one query", "", f"V = [{values[0]},"]
    lines += [f"     {values[1]},", f"     {values[2]}]         # row j: the value of token j"]
    return {
        "answer": answer, "code": "\n".join(lines), "weights": str(weights), "v": str(values), "column": column,
        "wrong": {"values-as-similarities": similar, "hard-lookup": hard, "equal-shares": plain},
        "terms": " + ".join(f"{weight:g}·{each}" for weight, each in zip(weights, taken, strict=True)),
        "similar": similar, "hard": hard, "plain": plain, "best": max(weights),
    }  # fmt: skip


def _dot(weights: list[float], values: list[int]) -> float:
    return round(dot(weights, values), 6)


def jacobian_entry(random: Random) -> dict[str, Any]:
    """One entry of the Jacobian of a softmax row, diag(p) - p pᵀ."""
    row = random.sample(random.choice(ROWS), 3)
    i, j = random.randrange(3), random.randrange(3)
    own = i == j
    p_i, p_j = row[i], row[j]
    answer = p_i * (1 - p_i) if own else -p_i * p_j
    wrong = {"normaliser-constant": p_i if own else 0, "log-softmax-derivative": 1 - p_i if own else -p_j}
    if not own:
        wrong["weights-do-not-compete"] = p_i * p_j
    terms = f"p_{i} (1 − p_{i}) = {p_i} · {1 - p_i:g}" if own else f"−p_{i} p_{j} = −{p_i} · {p_j}"
    constant = f"{p_i if own else 0} is what remains" if own else "0 would be right"
    return {"row": str(row), "p": row, "i": i, "j": j, "terms": terms, "constant": constant,
            "answer": round(answer, 8), "wrong": {tag: round(value, 8) for tag, value in wrong.items()}}  # fmt: skip


def score_entry(random: Random) -> dict[str, Any]:
    """One entry of Q Kᵀ: a row of Q times a row of K."""
    i, j = random.sample(range(3), 2)
    while True:
        q, k = ([[random.randrange(-2, 5) for _ in range(2)] for _ in range(3)] for _ in range(2))
        answer, mirrored, among = dot(q[i], k[j]), dot(q[j], k[i]), dot(q[i], q[j])
        if len({answer, mirrored, among}) == 3:
            break
    return {
        "answer": str(answer), "wrong": {"scores-symmetric": str(mirrored), "queries-among-themselves": str(among)},
        "code": f"Q = torch.tensor({q})\nK = torch.tensor({k})\nprint((Q @ K.T)[{i}, {j}].item())", "i": i, "j": j,
        "q_i": str(q[i]), "k_j": str(k[j]), "q_j": str(q[j]), "k_i": str(k[i]), "mirrored": mirrored,
    }  # fmt: skip
