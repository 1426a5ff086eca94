"""Numbers for the questions on sizes: the shapes through a classifier, and what width, heads and depth cost."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import distinct_sizes, heads_and_width

FLOATS = {"float32": 4, "bfloat16": 2}


def _sizes(random: Random) -> dict[str, int]:
    """The sizes of a small classifier, no two of them equal."""
    h, d, d_head = heads_and_width(random, (12, 20, 24, 28, 30, 40))
    small = tuple(size for size in (2, 3, 4, 5, 6, 7, 9, 11, 13) if size not in (h, d_head))
    batch, n, classes = distinct_sizes(random, 3, small)
    return {
        "B": batch,
        "n": n,
        "C": classes,
        "h": h,
        "d": d,
        "d_head": d_head,
        "d_ff": random.choice([50, 70, 90, 100]),
    }


def flow(random: Random) -> dict[str, Any]:
    """The shapes from token ids to logits."""
    size = _sizes(random)
    b, n, c, h, d, d_head, d_ff = size.values()
    vocabulary = random.choice([200, 300, 500])
    return {
        **size, "V": vocabulary,
        "answer": [[b, n, d], [b, h, n, d_head], [b, h, n, n], [b, n, d_ff], [b, n, d], [b, c]],
        "wrong": [
            {"tag": "dims-one-hot", "blank": 1, "shape": [b, n, vocabulary]},
            {"tag": "dims-heads-not-apart", "blank": 2, "shape": [b, n, h, d_head]},
            {"tag": "dims-full-width-heads", "blank": 2, "shape": [b, h, n, d]},
            {"tag": "dims-one-table-of-weights", "blank": 3, "shape": [b, n, n]},
            {"tag": "dims-features-attend", "blank": 3, "shape": [b, h, d_head, d_head]},
            {"tag": "dims-ffn-stays-wide", "blank": 5, "shape": [b, n, d_ff]},
            {"tag": "dims-label-per-token", "blank": 6, "shape": [b, n, c]},
        ],
    }  # fmt: skip


def shapes_in_order(random: Random) -> dict[str, Any]:
    """The same shapes, to be put in the order in which they first come up."""
    size = _sizes(random)
    b, n, c, h, d, d_head, d_ff = size.values()
    shapes = [(b, n), (b, n, d), (b, h, n, d_head), (b, h, n, n), (b, n, d_ff), (b, d), (b, c)]
    return {**size, "steps": [str(shape) for shape in shapes]}


def block_matrices(random: Random) -> dict[str, Any]:
    """The numbers in the matrices of one block: 4 D² + 2 D d_ff, whatever H is."""
    d, times, h = random.choice([30, 60, 90, 120]), random.choice([3, 5, 6]), random.choice([3, 5, 6])
    d_ff, square = times * d, d * d
    ffn = 2 * d * d_ff
    return {
        "d": d, "d_ff": d_ff, "h": h, "d_head": d // h, "attention": 4 * square, "ffn": ffn, "answer": 4 * square + ffn,
        "wrong": {
            "dims-no-output-projection": 3 * square + ffn,
            "dims-ffn-one-matrix": 4 * square + d * d_ff,
            "dims-one-head-only": 4 * d * (d // h) + ffn,
            "dims-heads-cost": 4 * square * h + ffn,
            "dims-always-four-times": 12 * square,
        },
    }  # fmt: skip


def count_by_heads(random: Random) -> dict[str, Any]:
    """What attention of one width has in parameters with different numbers of heads: 4 D² each time."""
    d = random.choice([12, 18, 20, 24, 30, 36, 40])
    heads = sorted(random.sample([h for h in range(2, 7) if d % h == 0], 3))
    counts = [4 * d * d for _ in heads]
    return {
        "d": d, "heads": heads, "square": d * d, "count": 4 * d * d, "answer": str(counts),
        "wrong": {
            "dims-heads-cost": str([4 * d * d * h for h in heads]),
            "dims-one-head-only": str([4 * d * (d // h) for h in heads]),
            "dims-no-output-projection": str([3 * d * d for _ in heads]),
        },
    }  # fmt: skip


def what_changes_count(random: Random) -> dict[str, Any]:
    """Which changes of a small language model change the number of its parameters."""
    learned = random.random() < 0.5
    base = {"vocabulary": random.choice([400, 700]), "d": 24, "heads": random.choice([2, 3]), "d_ff": 96,
            "blocks": random.choice([2, 3]), "room": random.choice([32, 48]), "learned": learned}  # fmt: skip
    options = [*random.sample(_costly(base), 2), *random.sample(_free(), 2), _heads(base), _room(base)]
    return {
        **base, "positions": "learned" if learned else "sinusoidal", "base": base,
        "options": [{key: option[key] for key in ("text", "right", "tag")} for option in options],
        "changes": {option["text"]: option["change"] for option in options},
    }  # fmt: skip


def _costly(base: dict[str, Any]) -> list[dict[str, Any]]:
    blocks, vocabulary = base["blocks"] + 2, base["vocabulary"] + 100
    return [
        {"text": f"{blocks} blocks", "right": True, "tag": "dims-one-block", "change": {"blocks": blocks}},
        {"text": "d_ff = 72", "right": True, "tag": "", "change": {"d_ff": 72}},
        {"text": f"a vocabulary of {vocabulary} tokens", "right": True, "tag": "dims-embeddings-forgotten",
         "change": {"vocabulary": vocabulary}},
    ]  # fmt: skip


def _free() -> list[dict[str, Any]]:
    tag = "dims-data-in-count"
    return [
        {"text": "batches of 64 texts", "right": False, "tag": tag, "change": {"batch": 64}},
        {"text": "texts of 20 tokens", "right": False, "tag": tag, "change": {"length": 20}},
        {"text": "no causal mask", "right": False, "tag": "dims-mask-in-count", "change": {"causal": False}},
        {"text": "dropout of 0.3", "right": False, "tag": "dims-mask-in-count", "change": {"dropout": 0.3}},
    ]


def _heads(base: dict[str, Any]) -> dict[str, Any]:
    heads = base["heads"] * 2
    text = f"{heads} heads of width {base['d'] // heads}"
    return {"text": text, "right": False, "tag": "dims-heads-cost", "change": {"heads": heads}}


def _room(base: dict[str, Any]) -> dict[str, Any]:
    tag = "dims-learned-positions-free" if base["learned"] else "dims-fixed-positions-counted"
    room = base["room"] * 2
    return {"text": f"room for {room} positions", "right": base["learned"], "tag": tag, "change": {"room": room}}


def embedding_share(random: Random) -> dict[str, Any]:
    """The share of the token embeddings in V D + 12 L D² parameters, in percent."""
    while True:
        vocabulary = random.choice([8_000, 10_000, 16_000, 20_000, 30_000, 32_000, 50_000])
        d, blocks = random.choice([64, 96, 128, 192, 256, 384, 512, 768]), random.choice([3, 4, 5, 6, 8, 10, 12])
        table, rest = vocabulary * d, 12 * blocks * d * d
        share, ratio, with_one = table / (table + rest), table / rest, table / (table + rest / blocks)
        if 0.2 < share < 0.9 and abs(ratio - with_one) > 0.03:
            break
    return {
        "V": vocabulary, "d": d, "L": blocks, "table": table, "rest": rest, "answer": 100 * share,
        "wrong": {"dims-share-of-the-rest": 100 * ratio, "dims-one-block": 100 * with_one},
    }  # fmt: skip


def possible_heads(random: Random) -> dict[str, Any]:
    """Which numbers of heads divide d_model. Eight never does, and three always does."""
    d = random.choice([60, 84, 90, 150, 180, 210])
    divisors = [h for h in (5, 6, 10, 12, 14, 15) if d % h == 0]
    others = [h for h in (7, 9, 11, 13, 16) if d % h]
    heads = [3, 8, *random.sample(divisors, 2), *random.sample(others, 1)]
    return {
        "d": d, "fitting": ", ".join(str(h) for h in sorted(heads) if d % h == 0), "rest": d % 8, "eighth": d / 8,
        "whole": ["dims-heads-power-of-two"],
        "options": [
            {"text": f"{h} heads", "right": d % h == 0,
             "tag": "dims-heads-power-of-two" if d % h == 0 else "dims-heads-any-number"}
            for h in sorted(heads)
        ],
    }  # fmt: skip


def residual_width(random: Random) -> dict[str, Any]:
    """A block and a classifier of which one line does not fit the width of the stream."""
    size = _sizes(random)
    n, c, d, d_head, d_ff = (size[name] for name in ("n", "C", "d", "d_head", "d_ff"))
    lines = [
        f"norm1, norm2 = nn.LayerNorm({d}), nn.LayerNorm({d})",
        f"w_qkv = nn.Linear({d}, {3 * d})",
        f"w_o = nn.Linear({d}, {d})",
        f"w1 = nn.Linear({d}, {d_ff})",
        f"w2 = nn.Linear({d_ff}, {d})",
        f"classify = nn.Linear({d}, {c})",
        "x = x + w_o(attend(w_qkv(norm1(x))))",
        "x = x + w2(gelu(w1(norm2(x))))",
        "logits = classify(x.mean(dim=1))",
    ]
    broken = [
        (1, f"norm1, norm2 = nn.LayerNorm({n}), nn.LayerNorm({n})"),
        (3, f"w_o = nn.Linear({d}, {d_head})"),
        (3, f"w_o = nn.Linear({d_head}, {d})"),
        (5, f"w2 = nn.Linear({d_ff}, {d_ff})"),
        (5, f"w2 = nn.Linear({d}, {d_ff})"),
        (6, f"classify = nn.Linear({n}, {c})"),
        (9, "logits = classify(x.mean(dim=2))"),
    ]
    answer, line = random.choice(broken)
    fix, lines[answer - 1] = lines[answer - 1], line
    return {
        **size, "code": "\n".join(lines), "fix": fix, "answer": answer, "reason": REASONS[answer].format(**size),
        "wrong": {"width-projection-shrinks": 2, "dims-ffn-stays-wide": 4},
    }  # fmt: skip


REASONS = {
    1: "LayerNorm works over the {d} features of one token, so it is made for {d}, whatever the length of the text.",
    3: "The heads' outputs stand side by side, {h} × {d_head} = {d}, and what is added to x must have the width {d}.",
    5: "The FFN may be {d_ff} wide inside, but it must come back to {d}: its result is added to x.",
    6: "Pooling over the tokens leaves one vector of width {d} for each text, and that is what the classifier reads.",
    9: "Axis 1 has the {n} tokens. The mean over axis 2 would be over the {d} features.",
}


def weights_memory(random: Random) -> dict[str, Any]:
    """The attention weights that all layers keep for the backward pass, in MiB: L B H T² numbers."""
    n = random.choice([256, 512, 1024])
    blocks, batch, h = random.choice([(6, 4, 8), (12, 4, 8), (6, 2, 16), (12, 16, 8), (24, 8, 16), (6, 16, 8)])
    name, size = random.choice(list(FLOATS.items()))
    answer = blocks * batch * h * n * n * size // 2**20
    return {
        "n": n, "L": blocks, "B": batch, "h": h, "name": name, "size": size, "answer": answer,
        "numbers": blocks * batch * h * n * n, "tables": blocks * batch * h, "pairs": n * n,
        "wrong": {
            "dims-one-table-of-weights": answer / h,
            "dims-one-layer": answer / blocks,
            "dims-batch-forgotten": answer / batch,
            "dims-linear-in-n": answer / n,
        },
    }  # fmt: skip


def same_budget(random: Random) -> dict[str, Any]:
    """The width at which L / k² blocks have as many parameters as L blocks of width D: k D."""
    times = random.choice([2, 3])
    few = random.choice([2, 3, 4, 6])
    d = random.choice([120, 180, 192, 240, 300, 360])
    return {
        "d": d, "L": few * times * times, "few": few, "times": times, "squared": times * times,
        "budget": 12 * few * times * times * d * d, "answer": times * d, "linear": times * times * d,
        "wrong": {"dims-width-counts-once": times * times * d, "dims-fewer-and-narrower": d // times,
                  "dims-depth-free": d},
    }  # fmt: skip


def token_budget(random: Random) -> dict[str, Any]:
    """Compute for training at 20 tokens a parameter: 6 N · 20 N, in 10^18 operations."""
    millions = random.choice([50, 70, 100, 125, 150, 200, 250, 300, 350, 400, 500, 600, 700, 800, 1000, 2000])
    answer = 120 * (millions * 1e6) ** 2 / 1e18
    wrong = {"dims-one-token-a-parameter": answer / 20, "dims-backward-forgotten": answer / 3}
    return {"millions": millions, "tokens": millions / 50, "answer": answer, "wrong": wrong}
