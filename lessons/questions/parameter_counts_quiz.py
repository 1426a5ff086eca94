"""Numbers for the questions on counting parameters and the bytes that they take."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

BYTES = {"SGD without momentum": 8, "SGD with momentum": 12, "Adam": 16}
KEPT = {8: "nothing", 12: "one number", 16: "two numbers"}
MADE = {8: "SGD([w])", 12: "SGD([w], momentum=0.9)", 16: "Adam([w])"}
MILLIONS = (125, 250, 375, 500, 625, 750, 875, 1000, 1250, 1500, 1750, 2000, 2500, 3000, 3500, 4000, 5000, 6000)


def attention(random: Random) -> dict[str, Any]:
    """Multi-head attention, with biases or without: 4 D² (+ 4 D)."""
    d = random.choice([20, 30, 40, 50, 60, 80, 100])
    h, biased = random.choice([5, 10]), random.random() < 0.7
    biases = 4 * d if biased else 0
    matrices = 4 * d * d
    wrong = {
        "count-without-w-o": 3 * d * d + (3 * d if biased else 0),
        "count-heads-multiply": h * (matrices + biases),
        "count-biases-wrong": matrices + (0 if biased else 4 * d),
    }
    return {
        "d": d, "h": h, "d_head": d // h, "biased": biased, "with_or_without": "with" if biased else "without",
        "matrices": matrices, "answer": matrices + biases, "wrong": wrong,
        "bias_says": f"Each of the four layers adds {d} biases" if biased else "There are no biases to add",
    }  # fmt: skip


def shared_keys(random: Random) -> dict[str, Any]:
    """Attention in which groups of heads share keys and values: 2 D² + 2 D h_kv d_head."""
    h, shared = random.choice([(6, 2), (8, 2), (9, 3), (10, 2), (12, 3), (12, 4)])
    d_head = random.choice([5, 10, 20])
    d = h * d_head
    own, few = d * d, d * shared * d_head
    return {
        "d": d, "h": h, "shared": shared, "d_head": d_head, "own": own, "few": few, "narrow": shared * d_head,
        "answer": 2 * own + 2 * few,
        "wrong": {"count-sharing-is-free": 4 * own, "count-all-shared": 4 * few, "count-without-w-o": own + 2 * few},
    }  # fmt: skip


def ffn(random: Random) -> dict[str, Any]:
    """The FFN with biases: 2 D d_ff + d_ff + D."""
    d, d_ff = random.choice([10, 20, 30, 40, 50]), random.choice([60, 80, 100, 200])
    matrices = 2 * d * d_ff
    return {
        "d": d, "d_ff": d_ff, "matrices": matrices, "one": d * d_ff, "biases": d_ff + d, "answer": matrices + d_ff + d,
        "wrong": {
            "count-biases-wrong": matrices,
            "count-one-ffn-matrix": d * d_ff + d_ff,
            "count-bias-per-input": matrices + 2 * d,
            "count-bias-per-hidden": matrices + 2 * d_ff,
        },
    }  # fmt: skip


def norms(random: Random) -> dict[str, Any]:
    """All LayerNorms of a pre-LN model: (2 L + 1) of 2 D."""
    d, blocks = random.choice([50, 64, 100, 128, 200]), random.randrange(3, 13)
    return {
        "d": d, "L": blocks, "count": 2 * blocks + 1, "answer": (2 * blocks + 1) * 2 * d, "each": 2 * d,
        "wrong": {
            "count-final-norm-forgotten": 2 * blocks * 2 * d,
            "count-norm-without-shift": (2 * blocks + 1) * d,
            "count-one-norm-per-block": (blocks + 1) * 2 * d,
        },
    }  # fmt: skip


def whole_model(random: Random) -> dict[str, Any]:
    """A small language model without biases, norms left out: (V + n) D + 12 L D², the output layer tied or not."""
    while True:
        vocabulary, room = random.choice([1000, 2000, 3000, 5000]), random.choice([50, 100, 200])
        d, blocks, tied = random.choice([10, 20, 30, 40]), random.choice([2, 3, 4, 6]), random.random() < 0.6
        counts = _counts(vocabulary, room, d, blocks, tied)
        if len({counts["answer"], *counts["wrong"].values()}) == 5:
            break
    how = "is the token table itself (tied)" if tied else "has a matrix of its own (not tied)"
    return {"V": vocabulary, "room": room, "d": d, "d_ff": 4 * d, "L": blocks, "tied": tied, "how": how, **counts}


def _counts(vocabulary: int, room: int, d: int, blocks: int, tied: bool) -> dict[str, Any]:
    tokens, positions, block = vocabulary * d, room * d, 12 * d * d
    output = 0 if tied else tokens
    rest = positions + blocks * block
    return {
        "tokens": tokens, "positions": positions, "blocks": blocks * block, "output": output,
        "answer": tokens + rest + output,
        "wrong": {
            "count-tying-wrong": 2 * tokens + rest - output,
            "count-positions-forgotten": tokens + rest - positions + output,
            "count-one-block-only": tokens + positions + block + output,
            "count-blocks-only": blocks * block,
        },
    }  # fmt: skip


def tied(random: Random) -> dict[str, Any]:
    """What is printed for an embedding and an output layer that share their matrix: V D, and V for a bias."""
    vocabulary, d = random.choice([50, 70, 100, 200]), random.choice([6, 8, 12, 20])
    biased = random.random() < 0.5
    table, bias = vocabulary * d, vocabulary if biased else 0
    return {
        "V": vocabulary, "d": d, "bias": biased, "table": table, "answer": str(table + bias),
        "bias_says": f"its bias adds {vocabulary}" if biased else "it has no bias",
        "wrong": {"count-tying-wrong": str(2 * table + bias), "count-biases-wrong": str(table + vocabulary - bias)},
    }  # fmt: skip


def training_bytes(random: Random) -> dict[str, Any]:
    """Weights, gradients and the optimiser's state in float32, in GB (10⁹ bytes)."""
    optimiser, each = random.choice(list(BYTES.items()))
    millions = random.choice(MILLIONS)
    wrong = {"count-weights-only": 4, "count-no-optimiser": 8, "count-one-state-number": 12, "count-always-adam": 16}
    if optimiser == "Adam":
        del wrong["count-always-adam"]
    elif each == 8:
        del wrong["count-no-optimiser"]
    return {
        "millions": millions, "optimiser": optimiser, "each": each, "numbers": each // 4,
        "state": KEPT[each], "made": MADE[each], "answer": millions * each / 1000,
        "wrong": {tag: millions * size / 1000 for tag, size in wrong.items() if size != each},
    }  # fmt: skip


def mixed_bytes(random: Random) -> dict[str, Any]:
    """Mixed precision: 2 + 2 bytes for the passes and 12 for the optimiser, in GB."""
    millions = random.choice(MILLIONS)
    sizes = {"count-half-of-everything": 8, "count-passes-only": 4, "count-no-master-copy": 12}
    return {
        "millions": millions, "answer": millions * 16 / 1000, "float32": millions * 16 / 1000,
        "passes": millions * 4 / 1000, "state": millions * 12 / 1000,
        "wrong": {tag: millions * size / 1000 for tag, size in sizes.items()},
    }  # fmt: skip


LEARNED = {
    "the token embeddings": "tok.weight",
    "W_Q of a head": "block.self_attn.in_proj_weight",
    "the bias of the FFN's first layer": "block.linear1.bias",
    "the gain γ of a LayerNorm": "block.norm1.weight",
    "W_O": "block.self_attn.out_proj.weight",
    "learned position vectors": "pos.weight",
}
NOT_LEARNED = {
    "the attention weights": "count-activations",
    "the keys and values in a cache": "count-activations",
    "the causal mask": "count-constants",
    "sinusoidal position vectors": "count-constants",
    "the rate of dropout": "count-constants",
    "Adam's running means of the gradients": "count-optimiser-state",
    "the gradient of W_V": "count-optimiser-state",
}


def what_is_learned(random: Random) -> dict[str, Any]:
    """Which of six things are parameters."""
    count = random.choice([2, 3])
    learned, others = random.sample(list(LEARNED), count), random.sample(list(NOT_LEARNED), 6 - count)
    options = [{"text": text, "right": True, "tag": "count-forgets-small-ones"} for text in learned]
    return {"options": options + [{"text": text, "right": False, "tag": NOT_LEARNED[text]} for text in others]}


def by_size(random: Random) -> dict[str, Any]:
    """The parts of a language model, in the order of their parameters."""
    while True:
        d, blocks = random.choice([16, 32, 48, 64]), random.choice([2, 4, 6])
        d_ff = d * random.choice([3, 4, 6])
        vocabulary, room = random.choice([100, 500, 2000, 10_000]), random.choice([20, 60, 300])
        parts = {
            "the token embeddings": vocabulary * d,
            "the learned positions": room * d,
            "the matrices of one attention": 4 * d * d,
            "the matrices of one FFN": 2 * d * d_ff,
            "all LayerNorms together": (2 * blocks + 1) * 2 * d,
        }
        counts = sorted(parts.values())
        if all(more > 1.2 * less for less, more in pairwise(counts)):
            break
    steps = sorted(parts, key=parts.__getitem__)
    return {
        "d": d, "L": blocks, "d_ff": d_ff, "V": vocabulary, "room": room, "steps": steps,
        "counted": "; ".join(f"{step}: {parts[step]:,}" for step in steps),
    }  # fmt: skip


COUNT = """\
def count(V, room, D, d_ff, L):
    tables = V * D + room * D
    attention = 4 * D * D + 4 * D
    ffn = 2 * D * d_ff + d_ff + D
    norms = 2 * (D + D)
    blocks = L * (attention + ffn + norms)
    last_norm = D + D
    return tables + blocks + last_norm"""
BROKEN = (
    (2, "    tables = V * D + room", "Each position has a vector of D numbers, as each token has."),
    (3, "    attention = 3 * D * D + 3 * D", "W_O is the fourth matrix of attention, with a bias of its own."),
    (4, "    ffn = D * d_ff + d_ff + D", "The FFN has two matrices: up to d_ff, and down again to D."),
    (4, "    ffn = 2 * D * d_ff + d_ff + d_ff", "A layer has one bias for each output: the first d_ff, the second D."),
    (5, "    norms = D + D", "A block has two LayerNorms, and each has D gains and D shifts."),
    (6, "    blocks = attention + ffn + L * norms", "All of a block is there L times, not only its norms."),
    (7, "    last_norm = D", "The last LayerNorm has D gains and D shifts, as every other one."),
    (8, "    return tables + blocks + last_norm + V * D", "The output layer is the token table, counted already."),
)  # fmt: skip


def count_bug(random: Random) -> dict[str, Any]:
    """A function that counts a model's parameters, with one line wrong."""
    lines = COUNT.split("\n")
    answer, line, why = random.choice(BROKEN)
    fix, lines[answer - 1] = lines[answer - 1].strip(), line
    wrong = {"count-tying-wrong": 8, "count-heads-multiply": 3, "count-one-norm-per-block": 5}
    return {
        "code": "\n".join(lines), "answer": answer, "fix": fix, "why": why,
        "wrong": {tag: number for tag, number in wrong.items() if number != answer},
    }  # fmt: skip
