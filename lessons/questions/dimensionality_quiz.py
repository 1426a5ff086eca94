"""Numbers for the questions on what linear maps do to width and rank, and on how wide spaces behave."""

from __future__ import annotations

import math
from random import Random
from typing import Any

VECTORS = 1000


def chain_rank(random: Random) -> dict[str, Any]:
    """The rank after two linear layers: at most the narrowest place on the way."""
    answer, *others = sorted(random.sample([6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64], 3))
    random.shuffle(others)
    others.insert(random.choice([0, 0, 1, 1, 1, 2]), answer)  # more often where it is not seen at the end
    first, middle, last = others
    wrong = {"width-last-size-counts": last, "width-first-size-counts": first, "width-rows-count": VECTORS}
    place = {first: "the input", middle: "the layer in between", last: "the output"}[answer]
    return {
        "first": first, "middle": middle, "last": last, "answer": answer, "place": place, "vectors": VECTORS,
        "wrong": {tag: value for tag, value in wrong.items() if value != answer},
    }  # fmt: skip


def softmax_rank(random: Random) -> dict[str, Any]:
    """Ranks of an n × n table of scores and of its weights: d_k, and n again."""
    n, d_k, seed = random.choice([5, 6, 7, 8]), random.choice([2, 3]), random.randrange(100)
    return {
        "n": n, "d_k": d_k, "seed": seed, "answer": f"{d_k} {n}",
        "wrong": {"width-softmax-keeps-rank": f"{d_k} {d_k}", "width-scores-full-rank": f"{n} {n}",
                  "width-softmax-loses-rank": f"{n} {d_k}"},
    }  # fmt: skip


LINEAR = (
    "x @ W",
    "A @ x",
    "3 * x",
    "x[:, :2]",
    "x.flip(0)",
    "x.mean(dim=0)",
    "x - x.mean(dim=-1, keepdim=True)",
)
BENT = {
    "x @ W + c": "width-affine-is-linear",
    "x.softmax(dim=-1)": "width-softmax-linear",
    "x / x.norm(dim=-1, keepdim=True)": "width-norm-linear",
    "F.layer_norm(x, (4,))": "width-norm-linear",
    "x.relu()": "width-kink-linear",
    "x * x": "width-square-linear",
    "(x @ x.T).softmax(dim=-1) @ x": "width-attention-linear",
}


def linear_maps(random: Random) -> dict[str, Any]:
    """Which of some maps are linear in x."""
    right, wrong = random.sample(LINEAR, random.choice([2, 3])), random.sample(list(BENT), 3)
    plain = {text: "" if "@" in text else "width-linear-without-weights" for text in right}
    options = [{"text": text, "right": True, "tag": tag} for text, tag in plain.items()]
    options += [{"text": text, "right": False, "tag": BENT[text]} for text in wrong]
    return {"options": options, "linear": "; ".join(right), "bent": "; ".join(wrong)}


PROJECTIONS = (
    *("[[1, 0], [0, 0]]", "[[0, 0], [0, 1]]", "[[1, 1], [0, 0]]", "[[0, 2], [0, 1]]"),
    *("[[0.5, 0.5], [0.5, 0.5]]", "[[0.5, -0.5], [-0.5, 0.5]]", "[[0.8, 0.4], [0.4, 0.2]]", "[[0.2, 0.4], [0.4, 0.8]]"),
)
OTHERS = {
    "width-rotation-projects": ("[[0, -1], [1, 0]]", "[[0.6, -0.8], [0.8, 0.6]]", "[[0, 1], [1, 0]]"),
    "width-flat-is-enough": ("[[2, 0], [0, 0]]", "[[0, 0], [0, 0.5]]", "[[1, 1], [1, 1]]", "[[0, 1], [0, 0]]"),
    "width-any-matrix-projects": ("[[1, 1], [0, 1]]", "[[1, 0], [0.5, 1]]", "[[1, 2], [3, 4]]", "[[2, 0], [0, 0.5]]"),
}


def true_projection(random: Random) -> dict[str, Any]:
    """Which of three matrices is a projection: P P = P."""
    right = random.choice(PROJECTIONS)
    wrong = [{"tag": tag, "text": random.choice(pool)} for tag, pool in OTHERS.items()]
    return {"right": right, "wrong": wrong}


def cosine_spread(random: Random) -> dict[str, Any]:
    """The standard deviation of the cosine of two vectors of random signs: 1/√D."""
    root = random.choice([4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 18, 20, 24, 25, 30, 32])
    d = root * root
    return {
        "d": d, "root": root, "answer": 1 / root,
        "wrong": {"width-variance-for-spread": 1 / d, "width-dot-for-cosine": root, "width-spread-stays": 1},
    }  # fmt: skip


def length_spread(random: Random) -> dict[str, Any]:
    """How much squared lengths vary, in percent of their mean: 100 √(2/D)."""
    root = random.choice([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 18, 20, 24, 25])
    d = 2 * root * root
    return {
        "d": d, "root": root, "deviation": 2 * root, "answer": 100 / root, "variance": 2 * d,
        "wrong": {"width-variance-for-spread": 200 / d, "width-spread-stays": 100 * math.sqrt(2),
                  "width-not-relative": 2 * root},
    }  # fmt: skip


def how_wide(random: Random) -> dict[str, Any]:
    """The sizes of a language model, each with what is as large as that."""
    d, h = random.choice([(96, 6), (120, 5), (144, 8), (160, 8), (192, 6), (240, 10)])
    n = random.choice([7, 9, 11, 13, 50, 70])
    return {"d": d, "h": h, "d_k": d // h, "n": n, "d_ff": random.choice([3, 4]) * d, "V": random.choice([2000, 5000])}


def low_rank(random: Random) -> dict[str, Any]:
    """What a low-rank update trains: r (D + m) numbers in place of D m."""
    d, m = random.sample([60, 80, 100, 120, 150, 200, 300], 2)
    r = random.choice([2, 4, 5, 8])
    return {
        "d": d, "m": m, "r": r, "all": d * m, "first": d * r, "second": r * m, "answer": r * (d + m),
        "wrong": {"width-product-size": d * m, "width-one-factor": d * r, "width-rank-squared": r * r},
    }  # fmt: skip


def affine_sum(random: Random) -> dict[str, Any]:
    """What a linear layer with a bias gives for a sum: g(u) + g(v) − g(0)."""
    bias, of_u, of_v = ([float(random.choice([-5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6])) for _ in "xy"] for _ in range(3))
    plain = [u + v for u, v in zip(of_u, of_v, strict=True)]
    return {
        "bias": bias, "of_u": of_u, "of_v": of_v,
        "shown_bias": str(bias), "shown_u": str(of_u), "shown_v": str(of_v), "plain": str(plain),
        "answer": str([total - b for total, b in zip(plain, bias, strict=True)]),
        "wrong": {"width-affine-is-linear": str(plain),
                  "width-bias-again": str([total + b for total, b in zip(plain, bias, strict=True)])},
    }  # fmt: skip
