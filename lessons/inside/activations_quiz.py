"""Numbers and code for the questions on activations and gates."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from grader.api.questions import distinct_sizes, spoil_line

Values = dict[str, Any]


def sigmoid(z: float) -> float:
    """1 / (1 + e^−z)."""
    return 1 / (1 + math.exp(-z))


def phi(z: float) -> float:
    """The share of the normal numbers below z."""
    return 0.5 * (1 + math.erf(z / math.sqrt(2)))


def gelu_by_hand(random: Random) -> Values:
    """GELU of a number, from a table of Φ."""
    z = random.choice([-2.0, -1.5, -1.0, -0.5, 0.5, 1.5, 2.0])
    share = round(phi(abs(z)), 4)
    answer = z * share if z > 0 else z * (1 - share)
    wrong = {"act-relu-for-gelu": max(0.0, z), "act-share-for-gelu": share if z > 0 else 1 - share,
             "act-wrong-side": z * (1 - share) if z > 0 else z * share}  # fmt: skip
    below = f"Φ({z:g}) = {share:g}" if z > 0 else f"Φ({z:g}) = 1 − {share:g} = {1 - share:.4f}"
    return {"z": z, "positive": abs(z), "share": share, "below": below, "answer": answer, "wrong": wrong}


def gated(random: Random) -> Values:
    """One hidden unit of SwiGLU."""
    while True:
        gate, up = random.choice([-3, -2, -1, 1, 2, 3]), random.choice([-3, -2, -1, 2, 3, 4])
        answer = gate * sigmoid(gate) * up
        wrong = {"act-gate-on-up": gate * up * sigmoid(up), "act-sigmoid-gate": sigmoid(gate) * up,
                 "act-gates-add": gate * sigmoid(gate) + up, "act-no-gate": float(gate * up)}  # fmt: skip
        if all(abs(a - b) > 0.03 * max(1.0, abs(a)) for i, a in enumerate([answer, *wrong.values()])
               for b in [answer, *wrong.values()][:i]):  # fmt: skip
            break
    return {"gate": gate, "up": up, "sigma": sigmoid(gate), "answer": answer, "wrong": wrong}


def same_numbers(random: Random) -> Values:
    """The hidden width at which a gated network has as many numbers."""
    width = random.choice([96, 192, 384, 768, 1536])
    times = random.choice([2, 4, 8])
    answer = 2 * times * width // 3
    wrong = {"act-three-as-wide": times * width, "act-halves-the-width": times * width // 2,
             "act-a-third": times * width // 3}  # fmt: skip
    return {"D": width, "d_ff": times * width, "answer": answer, "wrong": wrong}


def shapes(random: Random) -> Values:
    """The shapes in SwiGLU."""
    batch, tokens, width, hidden = distinct_sizes(random, 4, (2, 3, 4, 5, 6, 7, 9, 11))
    code = (
        f"x = torch.randn({batch}, {tokens}, {width})\n"
        f"w_gate, w_up = torch.randn(2, {hidden}, {width})\n"
        f"w_down = torch.randn({width}, {hidden})\n"
        "gate = x @ w_gate.T\n"
        "hidden = gate * gate.sigmoid() * (x @ w_up.T)\n"
        "out = hidden @ w_down.T"
    )
    wide = [batch, tokens, hidden]
    wrong = [{"tag": "act-halves-appended", "blank": 2, "shape": [batch, tokens, 2 * hidden]},
             {"tag": "act-gate-is-one-number", "blank": 1, "shape": [batch, tokens, 1]},
             {"tag": "act-stays-wide", "blank": 3, "shape": wide}]  # fmt: skip
    return {"D": width, "d_ff": hidden, "code": code, "answer": [wide, wide, [batch, tokens, width]], "wrong": wrong}


CODE = """\
def gelu(x):
    share = 0.5 * (1 + torch.erf(x / math.sqrt(2)))
    return x * share

def swiglu(x, w_gate, w_up, w_down):
    gate = x @ w_gate.T
    up = x @ w_up.T
    hidden = gate * torch.sigmoid(gate) * up
    return hidden @ w_down.T"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (2, "share = 0.5 * (1 + torch.erf(x))", 3, "gelu(1) is 0.92", "erf wants x/√2: its scale is another."),
    (2, "share = 0.5 * torch.erf(x / math.sqrt(2))", 3, "gelu(−1) and gelu(1) are equal",
     "The 1 is missing: so the share is negative on the left."),
    (2, "share = torch.sigmoid(x)", 3, "gelu(1) is 0.7311", "That is SiLU. The share is Φ(x)."),
    (3, "return share", 2, "gelu(0) is ½", "x is not multiplied: that is the share alone."),
    (3, "return x * share.round()", 2, "a small negative number has the gradient 0",
     "The share is made 0 or 1, which is ReLU."),
    (6, "gate = x @ w_up.T", 8, "w_gate never gets a gradient", "w_up is used for both factors."),
    (7, "up = torch.sigmoid(x @ w_up.T)", 8, "what comes through the gate is between 0 and the gate",
     "The other factor is bent, too. It goes through as it is."),
    (8, "hidden = gate * torch.sigmoid(gate) + up", 9, "a gate that is shut lets everything through",
     "The two are added, where they are to be multiplied."),
    (8, "hidden = gate * torch.sigmoid(up) * up", 6, "a gate far below 0 is not shut",
     "The sigmoid is that of the other factor."),
    (8, "hidden = torch.sigmoid(gate) * up", 6, "a gate of 100 lets through no more than one of 5",
     "That is GLU. SiLU multiplies the sigmoid with the gate itself."),
    (9, "return hidden @ w_up", 8, "w_down never gets a gradient", "The way down is made with w_up."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """Both functions with one line spoilt, and what is seen of it."""
    return spoil_line(random, CODE, SPOILT, "act-blames-the-symptom")
