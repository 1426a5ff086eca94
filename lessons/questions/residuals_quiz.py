"""Numbers for the questions on residual connections."""

from __future__ import annotations

import re
from math import sqrt
from random import Random
from typing import Any

from grader.api.questions import distinct_sizes, fill

# --- the gradient -----------------------------------------------------------------------------------------------------


def deep_gradient(random: Random) -> dict[str, Any]:
    """Through L layers h ← h + a·h the gradient is (1 + a)^L; without the residual it would be a^L."""
    layers, a = random.choice([3, 4, 5]), random.choice([0.1, 0.2, 0.3, 0.5, -0.1, -0.2, -0.4, 2])
    answer = (1 + a) ** layers
    wrong = {"residual-left-out": a**layers, "one-added-once": 1 + a**layers, "products-left-out": 1 + layers * a}
    return {
        "L": layers,
        "a": a,
        "term": _term(a),
        "factor": 1 + a,
        "plain": f"{a**layers:.7f}".rstrip("0").rstrip("."),
        "answer": answer,
        "wrong": wrong,
    }


def _term(value: float) -> str:
    """A number as it stands after a plus sign."""
    return f"{value:g}" if value >= 0 else f"({value:g})"


TWO_BRANCHES = """\
x = torch.tensor({x}, requires_grad=True)
h = x + {a} * torch.relu({of_x})
y = h + {b} * torch.relu({of_h})
y.backward()
print(x.grad.item())"""


def two_branches(random: Random) -> dict[str, Any]:
    """dy/dx = (1 + f1)(1 + f2), where f is the branch's own derivative: 0 where its relu is off."""
    while True:
        x, a, b = random.choice([-3, -2, 2, 3]), *random.sample([2, 3, 4, 5], 2)
        sign_x, sign_h = random.choice([1, -1]), random.choice([1, -1])
        f1 = a * sign_x if sign_x * x > 0 else 0
        h = x * (1 + f1)
        f2 = b * sign_h if sign_h * h > 0 else 0
        answer = (1 + f1) * (1 + f2)
        wrong = {"residual-left-out": f1 * f2, "products-left-out": 1 + f1 + f2, "one-added-once": 1 + f1 * f2}
        wrong = {tag: value for tag, value in wrong.items() if value != answer}
        if (f1 or f2) and h and len(set(wrong.values())) == len(wrong):
            break
    code = fill(TWO_BRANCHES, {"x": f"{x:.1f}", "a": a, "b": b, "of_x": "x" if sign_x > 0 else "-x",
                               "of_h": "h" if sign_h > 0 else "-h"})  # fmt: skip
    off = [name for name, derivative in (("second", f1), ("third", f2)) if derivative == 0]
    why = (f"The relu of the {off[0]} line is off: its branch has the derivative 0, and the 1 remains." if off else
           f"Without the residuals it would be {_term(f1)} · {_term(f2)} = {f1 * f2}.")  # fmt: skip
    return {"code": code, "x": x, "h": h, "f1": _term(f1), "f2": _term(f2), "slope1": f1, "slope2": f2,
            "one": 1 + f1, "two": 1 + f2, "why": why,
            "answer": f"{answer:.1f}", "wrong": {tag: f"{value:.1f}" for tag, value in wrong.items()}}  # fmt: skip


def terms(random: Random) -> dict[str, Any]:
    """(I + J_L)...(I + J_1), multiplied out: each J at most once, the higher number on the left."""
    layers = random.choice([3, 4, 5, 6])
    low, high = sorted(random.sample(range(1, layers + 1), 2))
    alone, twice = random.randint(1, layers), random.randint(1, layers)
    three = sorted(random.sample(range(1, layers + 1), 3), reverse=True)
    right = random.sample(["I", f"J_{alone}", f"J_{high} J_{low}", " ".join(f"J_{each}" for each in three)], 3)
    wrong = [("jacobians-forwards", f"J_{low} J_{high}"), ("branch-taken-twice", f"J_{twice} J_{twice}")]
    options = [{"text": text, "right": True, "tag": "one-path-for-each-layer" if " " in text else ""} for text in right]
    options += [{"text": text, "right": False, "tag": tag} for tag, text in wrong]
    return {"layers": layers, "options": options, "terms": ", ".join(right)}


# --- the stream -------------------------------------------------------------------------------------------------------


def stream(random: Random) -> dict[str, Any]:
    """In a pre-LN model the stream is the embedding plus all that the branches gave."""
    while True:
        blocks, embedding = random.choice([2, 3]), random.choice([2, 3, 4, 5, 6, 7])
        writes = [random.choice([-5, -4, -3, -2, -1, 1, 2, 3, 4, 5]) for _ in range(2 * blocks)]
        answer = embedding + sum(writes)
        wrong = {
            "residual-adds-embedding": embedding + writes[-1],
            "embedding-added-each-time": 2 * blocks * embedding + sum(writes),
            "residual-left-out": writes[-1],
            "embedding-left-behind": sum(writes),
        }
        if len({answer, *wrong.values()}) == 5:
            break
    names = [f"{kind} {block}" for block in range(1, blocks + 1) for kind in ("attention", "FFN")]
    listed = ", ".join(f"{name}: {write:+d}" for name, write in zip(names, writes, strict=True))
    return {"blocks": blocks, "embedding": embedding, "writes": writes, "listed": listed, "last": writes[-1],
            "sum": sum(writes), "total": " ".join([str(embedding), *map(_spaced, writes)]), "answer": answer,
            "wrong": wrong}  # fmt: skip


def _spaced(value: int) -> str:
    return f"+ {value}" if value > 0 else f"- {-value}"


SILENT = """\
norm = torch.nn.LayerNorm(4)

def branch(x):
    return 0 * x                      # it has learned nothing

x = torch.tensor({x})
h = {sublayer}
print(h.round().tolist())"""
PRE, POST = "x + branch(norm(x))          # pre-LN", "norm(x + branch(x))          # post-LN"


def silent(random: Random) -> dict[str, Any]:
    """Where a branch gives 0, pre-LN returns x and post-LN LN(x): ±1 for two large and two small entries."""
    mean, off = random.choice([5, 6, 7, 8, 9]), random.choice([2, 3, 4])
    signs = random.sample([1, 1, -1, -1], 4)
    x, normed = [float(mean + off * sign) for sign in signs], [float(sign) for sign in signs]
    pre = random.random() < 0.5
    answer, other = (x, normed) if pre else (normed, x)
    why = (
        "The norm is on the way into the branch only, so x + 0 is x itself."
        if pre
        else f"The norm takes the sum x + 0: the mean {mean} goes, and entries {off} above or below it become 1 and −1."
    )
    return {"code": fill(SILENT, {"x": str(x), "sublayer": PRE if pre else POST}), "why": why, "answer": str(answer),
            "wrong": {"silent-branch-gives-zero": str([0.0] * 4),
                      "residual-normalises" if pre else "post-ln-passes-x": str(other)}}  # fmt: skip


def growth(random: Random) -> dict[str, Any]:
    """Variances of independent terms add up: 1 + 2·n·v after n blocks of two branches."""
    blocks, v = random.choice([4, 6, 8, 12, 16, 24]), random.choice([0.5, 1, 2, 3])
    answer = 1 + 2 * blocks * v
    wrong = {
        "residual-normalises": 1,
        "second-sub-layer-forgotten": 1 + blocks * v,
        "variances-multiplied": (1 + v) ** (2 * blocks),
        "std-of-stream": sqrt(answer),
    }
    return {"blocks": blocks, "v": v, "branches": 2 * blocks, "std": sqrt(answer), "answer": answer, "wrong": wrong}


def apart(random: Random) -> dict[str, Any]:
    """Two tokens that mix with the weights w and 1 − w: attention multiplies their difference by 2w − 1, with the
    residual by 2w."""
    w, layers = random.choice([0.6, 0.7, 0.75, 0.8, 0.9]), random.choice([2, 3])
    low, gap = random.choice([1, 2, 3, 5]), random.choice([8, 10, 16, 20, 32])
    answer = gap * (2 * w) ** layers
    wrong = {
        "residual-left-out": gap * (2 * w - 1) ** layers,
        "attention-leaves-tokens": gap * 2**layers,
        "own-weight-only": gap * (1 + w) ** layers,
        "products-left-out": gap * (1 + layers * (2 * w - 1)),
    }
    return {"w": w, "rest": round(1 - w, 2), "L": layers, "low": low, "high": low + gap, "gap": gap,
            "shrinks": round(2 * w - 1, 2), "grows": round(2 * w, 2), "plain": gap * (2 * w - 1) ** layers,
            "answer": round(answer, 9), "wrong": wrong}  # fmt: skip


# --- the block --------------------------------------------------------------------------------------------------------

PRE_BLOCK = """\
def block(x, mask):
    y = norm1(x)
    y = attn(y, mask)
    h = x + y
    y = norm2(h)
    y = ffn(y)
    return h + y"""
POST_BLOCK = """\
def block(x, mask):
    y = attn(x, mask)
    h = norm1(x + y)
    y = ffn(h)
    return norm2(h + y)"""
PRE_SLIPS = [
    (3, "y = attn(x, mask)", "attention reads the stream as it is, and the normed copy is never used"),
    (4, "h = y", "what attention gives replaces the stream in place of being added to it"),
    (4, "h = norm1(x) + y", "attention's result is added to the normed copy, so x itself is lost"),
    (5, "y = norm2(x)", "the feed-forward network reads x, and does not see what attention found"),
    (6, "y = ffn(h)", "the feed-forward network reads the stream as it is, and the normed copy is never used"),
    (7, "return y", "what the network gives replaces the stream in place of being added to it"),
    (7, "return x + y", "the network's result is added to the block's input, so what attention said is lost"),
    (7, "return norm2(h) + y", "the network's result is added to the normed copy, so h itself is lost"),
]
POST_SLIPS = [
    (3, "h = norm1(y)", "what attention gives replaces the stream in place of being added to it"),
    (3, "h = x + norm1(y)", "the norm takes the branch's result only, not the sum"),
    (4, "y = ffn(x)", "the feed-forward network reads x, and does not see what attention found"),
    (5, "return norm2(y)", "what the network gives replaces the stream in place of being added to it"),
    (5, "return norm2(x + y)", "the network's result is added to the block's input, so what attention said is lost"),
    (5, "return h + norm2(y)", "the norm takes the branch's result only, not the sum"),
]
PLACES = {
    "pre-LN": "each branch reads a normed copy of the stream, and its result is added to the stream",
    "post-LN": "each branch's result is added to what the branch read, and the sum is normed",
}


RIGHT = {
    "pre-LN": ("x + attn(norm1(x), None)", "h + ffn(norm2(h))"),
    "post-LN": ("norm1(x + attn(x, None))", "norm2(h + ffn(h))"),
}


def block_bug(random: Random) -> dict[str, Any]:
    """One line of a right block is replaced by one that people write."""
    kind = random.choice(list(PLACES))
    lines, slips = (PRE_BLOCK, PRE_SLIPS) if kind == "pre-LN" else (POST_BLOCK, POST_SLIPS)
    answer, slip, why = random.choice(slips)
    code, names = lines.split("\n"), random.choice([("h", "y"), ("h", "out"), ("mid", "y"), ("z", "b")])
    fix = code[answer - 1].strip()
    code[answer - 1] = f"    {slip}"
    last, first = len(code), 4 if kind == "pre-LN" else 3
    blamed = {"residual-adds-embedding": last, "norm-place-exchanged": first}
    return {"code": _named("\n".join(code), names), "answer": answer, "fix": _named(fix, names), "kind": kind,
            "place": PLACES[kind], "why": _named(why, names), "h": names[0],
            "half": RIGHT[kind][0], "whole": RIGHT[kind][1],
            "wrong": {tag: line for tag, line in blamed.items() if line != answer}}  # fmt: skip


def _named(code: str, names: tuple[str, str]) -> str:
    """The code with other names for h and y."""
    return re.sub(r"\b[hy]\b", lambda match: names["hy".index(match[0])], code)


STEPS = {
    "pre-LN": ["the first LayerNorm", "attention", "the first addition",
               "the second LayerNorm", "the feed-forward network", "the second addition"],
    "post-LN": ["attention", "the first addition", "the first LayerNorm",
                "the feed-forward network", "the second addition", "the second LayerNorm"],
}  # fmt: skip


def order(random: Random) -> dict[str, Any]:
    """The steps of a block, forward or backward: the gradient comes through in the opposite order."""
    kind, forward = random.choice(list(STEPS)), random.random() < 0.5
    steps = STEPS[kind] if forward else STEPS[kind][::-1]
    back = "backpropagation takes them (a step waits until all of its gradient has come in)"
    way = "a token's numbers pass them" if forward else back
    so = "So the order is" if forward else "Backpropagation takes the steps in reverse"
    return {"kind": kind, "forward": forward, "way": way, "so": so, "steps": steps, "place": PLACES[kind],
            "listed": ", ".join(steps)}  # fmt: skip


PLACEMENT = {
    "normed": "Each token of its output has mean 0 and variance 1 over the features.",
    "silent": "If both branches give 0, it returns x unchanged.",
    "sum": "Its output is x plus what the two branches gave.",
    "scale": "Multiply x by 1000, and attention gives nearly the same result as before.",
    "cut": "Set all scales of the two norms to 0, and the output no longer depends on x.",
}
HOLDS = {"pre-LN": {"silent", "sum", "scale"}, "post-LN": {"normed", "cut"}}


def placement(random: Random) -> dict[str, Any]:
    """What holds of a pre-LN block, and what of a post-LN block: measured, not remembered."""
    kind = random.choice(list(HOLDS))
    drawn = random.sample(list(PLACEMENT), 4)
    options = [{"text": PLACEMENT[name], "right": name in HOLDS[kind], "tag": "norm-place-exchanged"} for name in drawn]
    return {"kind": kind, "options": options}


TRACE = """\
x = torch.randn({B}, {T}, {D})
w1, w2 = torch.randn({F}, {D}), torch.randn({D}, {F})
weights = (x @ x.transpose(1, 2)).softmax(dim=-1)    # 1
h = x + weights @ x                                  # 2
hidden = torch.relu(h @ w1.T)                        # 3
out = h + hidden @ w2.T                              # 4"""


def shapes(random: Random) -> dict[str, Any]:
    """Inside a branch the sizes change; what is added has the shape of the stream."""
    batch, length, width = distinct_sizes(random, 3, (2, 3, 4, 5, 6, 7))
    hidden = width * random.choice([3, 4])
    road = (batch, length, width)
    wrong = [
        {"tag": "weights-have-width", "blank": 1, "shape": road},
        {"tag": "residual-concatenates", "blank": 2, "shape": (batch, length, 2 * width)},
        {"tag": "branch-keeps-width", "blank": 3, "shape": road},
        {"tag": "residual-concatenates", "blank": 4, "shape": (batch, length, 2 * width)},
        {"tag": "second-map-forgotten", "blank": 4, "shape": (batch, length, hidden)},
    ]
    return {"code": fill(TRACE, {"B": batch, "T": length, "D": width, "F": hidden}), "B": batch, "T": length,
            "D": width, "F": hidden, "twice": 2 * width, "blanks": ["weights", "h", "hidden", "out"],
            "answer": [(batch, length, length), road, (batch, length, hidden), road], "wrong": wrong}  # fmt: skip
