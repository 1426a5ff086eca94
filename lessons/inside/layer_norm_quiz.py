"""Numbers and code for the questions on LayerNorm and RMSNorm."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from grader.api.questions import are_far_apart, distinct_sizes, spoil_line

Values = dict[str, Any]

ORDINALS = ("first", "second", "third", "fourth")


def by_hand(random: Random) -> Values:
    """One feature of a token with whole numbers, through one of the two norms."""
    while True:
        centred, rms = random.choice([True, True, False]), None
        token = random.sample(range(-4, 10), random.choice([3, 4]))
        width, place = len(token), random.randrange(len(token))
        mean = sum(token) / width
        kept = [each - mean for each in token] if centred else [float(each) for each in token]
        square = sum(each**2 for each in kept) / width
        other = [float(each) for each in token] if centred else [each - mean for each in token]
        other_square = sum(each**2 for each in other) / width
        if not mean.is_integer() or min(square, other_square) == 0:
            continue
        rms = math.sqrt(square)
        answer = kept[place] / rms
        wrong = {
            "norm-forgets-the-root": kept[place] / square,
            "norm-scales-to-length-1": answer / math.sqrt(width),
            "norm-keeps-the-mean" if centred else "norm-takes-off-the-mean": other[place] / math.sqrt(other_square),
        }
        if centred:
            wrong["norm-divides-by-d-minus-1"] = kept[place] / math.sqrt(square * width / (width - 1))
        if kept[place] and are_far_apart(answer, *wrong.values()):
            break
    first = f"The mean is {mean:g}, so {token[place]} becomes {kept[place]:g}. " if centred else ""
    squares = " + ".join(f"{abs(each):g}²" for each in kept)
    of_what = "x - x.mean()" if centred else "x"
    why = f"{first}The mean of the squares is ({squares})/{width} = {square:.4g}, and {kept[place]:g}/√{square:.4g}"
    return {"token": token, "place": place, "ordinal": ORDINALS[place], "D": width, "less": width - 1, "mean": mean,
            "name": "LayerNorm" if centred else "RMSNorm", "bias": ", bias 0" if centred else "", "why": why,
            "line": f"y = ({of_what}) / ({of_what}).square().mean().sqrt()", "answer": answer,
            "wrong": wrong}  # fmt: skip


def affine(random: Random) -> Values:
    """The last line of LayerNorm."""
    while True:
        y, gamma = random.choice([-1.5, -1, -0.5, 0.5, 1.5, 2]), random.choice([0.5, 2, 3, 4, -2])
        beta = random.choice([-2, -1, 1, 2, 3])
        answer, wrong = gamma * y + beta, gamma * (y + beta)
        if are_far_apart(answer, wrong):
            break
    return {"y": y, "gamma": gamma, "beta": beta, "answer": answer, "wrong": {"norm-bias-before-weight": wrong}}


def survives(random: Random) -> Values:
    """Which changes of a token a norm takes away."""
    centred, factor, step = random.random() < 0.6, random.choice([2, 3, 10]), random.choice([1, 5, 100])
    options = [
        (f"{factor} * x", True, "norm-keeps-size"),
        (f"x / {factor}", True, "norm-keeps-size"),
        (f"-{factor} * x", False, "norm-keeps-size"),
        (f"x + {step}", centred, "norm-keeps-place"),
        ("x - x.mean()", centred, "norm-keeps-place"),
        (f"{factor} * x - {step}", centred, "norm-keeps-place"),
    ]
    chosen = random.sample(options, 4)
    while not 1 <= sum(right for _, right, _ in chosen) <= 3:
        chosen = random.sample(options, 4)
    why = "A positive factor on the token is a factor on the root below, and cancels; a negative one leaves its sign. "
    why += (
        "A constant that is added moves the mean by as much, and LayerNorm takes the mean off."
        if centred
        else "RMSNorm leaves the mean where it is, so whatever moves the mean changes the result."
    )
    return {"name": "LayerNorm" if centred else "RMSNorm", "bias": " and β = 0" if centred else "", "why": why,
            "options": [{"text": text, "right": right, "tag": tag} for text, right, tag in chosen]}  # fmt: skip


def tiny(random: Random) -> Values:
    """A token whose spread is as small as the root of eps."""
    while True:
        eps, s = random.choice([1e-5, 1e-4, 1e-3]), random.choice([0.001, 0.002, 0.003, 0.005, 0.01, 0.02])
        answer = s / math.sqrt(s * s + eps)
        wrong = {"norm-eps-outside": s / (s + eps), "norm-forgets-the-root": s / (s * s + eps)}
        if 0.05 < answer < 0.9 and are_far_apart(answer, *wrong.values()):
            break
    return {"eps": eps, "s": s, "variance": s * s, "answer": answer, "wrong": wrong}


def statistics(random: Random) -> Values:
    """The shapes of LayerNorm by hand."""
    shape = distinct_sizes(random, random.choice([3, 4]), (2, 3, 4, 5, 6, 7, 9))
    one, spoilt = [*shape[:-1], 1], [*shape[:-2], 1, shape[-1]]
    code = (
        f"x = torch.randn({', '.join(map(str, shape))})\n"
        "mean = x.mean(dim=-1, keepdim=True)\n"
        "var = (x - mean).square().mean(dim=-1, keepdim=True)\n"
        "y = (x - mean) / (var + 1e-5).sqrt()"
    )
    wrong = [{"tag": "norm-other-statistics", "blank": blank, "shape": each}
             for blank in (1, 2) for each in (spoilt, [1] * len(shape), [shape[-1]])]  # fmt: skip
    return {"D": shape[-1], "code": code, "answer": [one, one, shape], "wrong": wrong}


NORM = """\
def layer_norm(x, weight, bias, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    centred = x - mean
    var = centred.square().mean(dim=-1, keepdim=True)
    y = centred / torch.sqrt(var + eps)
    return weight * y + bias"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (2, "mean = x.mean()", 4, "a token becomes something else when another one in the batch changes",
     "That is one mean for the whole tensor. Each token has its own: dim=-1, keepdim=True."),
    (2, "mean = x.mean(dim=0, keepdim=True)", 4, "with a single text in the batch every token becomes the bias",
     "The mean over the batch of one is the token itself. It is the mean of a token's features that comes off."),
    (3, "centred = x", 5, "tokens of equal entries, one of 5s and one of 7s, do not become the bias",
     "The mean is computed and never taken off."),
    (4, "var = x.square().mean(dim=-1, keepdim=True)", 5, "far from 0 all entries of a token become nearly equal",
     "The mean square of x holds the mean, too. The variance is that of x − mean."),
    (4, "var = centred.square().sum(dim=-1, keepdim=True)", 5, "with weight 1 and bias 0 every token has the length 1",
     "The sum makes the length 1. It is the mean square that is to be 1."),
    (4, "var = x.var(dim=-1, keepdim=True)", 5, "weights of a trained model give slightly other results",
     "Tensor.var divides by D − 1. Here correction=0 is meant: divide by D."),
    (4, "var = centred.abs().mean(dim=-1, keepdim=True)", 5, "a token ten times larger comes out √10 times larger",
     "The mean distance is no square, and its root grows with the root of the token. Square first."),
    (5, "y = centred / (torch.sqrt(var) + eps)", 4, "a token with a spread of 0.001 comes out nearly at full size",
     "eps stands outside of the root, where it is far too small to matter. It belongs beside the variance."),
    (5, "y = centred / (var + eps)", 4, "a token ten times larger comes out ten times smaller",
     "Divided by the variance, a token's scale is turned upside down. The root is missing."),
    (5, "y = x / torch.sqrt(var + eps)", 3, "the mean of a token does not become that of the bias",
     "The centred token must be divided, not x."),
    (6, "return weight * (y + bias)", 5, "where the weight is 0, the bias has no effect",
     "The bias is added last: weight * y + bias."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """LayerNorm with one line spoilt, and what is seen of it."""
    return spoil_line(random, NORM, SPOILT, "norm-blames-the-symptom")
