"""Numbers and code for the questions on the feed-forward network."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import distinct_sizes, dot, spoil_line

Values = dict[str, Any]


def shapes(random: Random) -> Values:
    """The shapes on the way through the network."""
    batch, tokens, width, hidden = distinct_sizes(random, 4, (2, 3, 4, 5, 6, 7, 9, 11))
    code = (
        f"w1, w2 = torch.nn.Linear({width}, {hidden}), torch.nn.Linear({hidden}, {width})\n"
        f"x = torch.randn({batch}, {tokens}, {width})\n"
        "hidden = torch.nn.functional.gelu(w1(x))\n"
        "out = w2(hidden)\n"
        "weight = w1.weight"
    )
    wrong = [
        {"tag": "ffn-mixes-places", "blank": 1, "shape": [batch, hidden, width]},
        {"tag": "ffn-mixes-places", "blank": 1, "shape": [batch, hidden]},
        {"tag": "ffn-stays-wide", "blank": 2, "shape": [batch, tokens, hidden]},
        {"tag": "ffn-weight-in-out", "blank": 3, "shape": [width, hidden]},
    ]
    return {"D": width, "d_ff": hidden, "code": code, "wrong": wrong,
            "answer": [[batch, tokens, hidden], [batch, tokens, width], [hidden, width]]}  # fmt: skip


def numbers(random: Random) -> Values:
    """How many numbers a network has, with its biases."""
    width, times = random.choice([8, 16, 32, 64]), random.choice([2, 3, 4])
    hidden = times * width
    answer = 2 * width * hidden + hidden + width
    wrong = {"ffn-forgets-biases": 2 * width * hidden, "ffn-one-matrix": width * hidden + hidden,
             "ffn-both-biases-wide": 2 * width * hidden + 2 * hidden}  # fmt: skip
    return {"D": width, "d_ff": hidden, "answer": answer, "wrong": wrong}


def unit(random: Random) -> Values:
    """What one hidden unit with ReLU writes into one feature."""
    while True:
        x, pattern = ([random.randrange(-2, 4) for _ in range(3)] for _ in range(2))
        bias, column = random.choice([-3, -2, -1, 1]), random.choice([-3, -2, 2, 3])
        fits = dot(x, pattern)
        on = max(0, fits + bias)
        answer = column * on
        wrong = {"ffn-no-off": column * (fits + bias), "ffn-bias-after-bend": column * (max(0, fits) + bias),
                 "ffn-hidden-for-output": on}  # fmt: skip
        wrong = {tag: each for tag, each in wrong.items() if each != answer}
        if len({answer, *wrong.values()}) == 1 + len(wrong) and len(wrong) >= 2:
            break
    return {"x": x, "pattern": pattern, "bias": bias, "column": column, "fits": fits, "sum": fits + bias, "on": on,
            "answer": answer, "wrong": wrong}  # fmt: skip


NETWORK = """\
class FeedForward(nn.Module):
    def __init__(self, D, d_ff):
        super().__init__()
        self.w1 = nn.Linear(D, d_ff)
        self.w2 = nn.Linear(d_ff, D)

    def forward(self, x):
        hidden = self.w1(x)
        hidden = nn.functional.gelu(hidden)
        out = self.w2(hidden)
        return out"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (4, "self.w1 = nn.Linear(d_ff, D)", 8, "the first call ends in an error about shapes",
     "w1 is to lead from D to d_ff: the widths are exchanged."),
    (4, "self.w1 = nn.Linear(D, d_ff, bias=False)", 9, "every unit has its border at 0, and w1.bias is missing",
     "bias=False takes away what says how well a pattern must fit."),
    (5, "self.w2 = nn.Linear(d_ff, D, bias=False)", 10, "for a token of zeros and w1.bias = 0 nothing can be written",
     "w2 has a bias, too."),
    (8, "hidden = self.w1(x.mean(1, keepdim=True)).expand(-1, x.size(1), -1)", 10,
     "all tokens of a text get the same", "The tokens are averaged before they are widened."),
    (9, "hidden = hidden.detach().relu()", 4, "w1 never changes in training",
     "detach cuts the gradient off, and besides it is not GELU."),
    (9, "hidden = nn.functional.softmax(hidden, dim=-1)", 4, "if one unit comes on, all others go off",
     "softmax lets the units compete. The bend is taken entry by entry."),
    (9, "hidden = hidden * 1.0", 5, "twice the input gives twice the output, but for the biases",
     "There is no bend: two linear maps are one."),
    (10, "out = nn.functional.gelu(self.w2(hidden))", 9, "no output is below −0.17",
     "There is a second bend after w2. GELU is never below −0.17."),
    (10, "out = self.w2(hidden) + x", 8, "in a block the token is added twice",
     "The residual sum belongs to the block."),
    (10, "out = hidden @ self.w1.weight", 9, "w2 never gets a gradient",
     "The way back is made with w1. It has a map of its own, w2."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """A network with one line spoilt, and what is seen of it."""
    return spoil_line(random, NETWORK, SPOILT, "ffn-blames-the-symptom")
