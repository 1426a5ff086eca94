"""Numbers for the questions on architectural choices."""

from __future__ import annotations

from random import Random
from typing import Any

Values = dict[str, Any]


def _plus(number: int) -> str:
    """A term of a sum, with its sign; nothing for 0."""
    return f" + {number}" if number > 0 else f" − {-number}" if number else ""


def norm_place(random: Random) -> Values:
    """One residual branch that multiplies by c, on two features, which a norm turns into −1 and 1."""
    while True:
        low, half, c = random.randrange(-3, 5), random.choice([1, 2, 3]), random.choice([2, 3, 4, 5])
        high, pre = low + 2 * half, random.random() < 0.65
        place = random.randrange(2)
        mine, normed = (low, high)[place], (-1, 1)[place]
        before, after = mine + c * normed, normed
        answer = before if pre else after
        wrong = {
            "pre-and-post-swapped": after if pre else before,
            "norm-left-out": mine + c * mine,
            "sum-takes-the-normed-copy": normed + c * normed,
        }
        if len({answer, *wrong.values()}) == 4:
            break
    name, formula = ("pre-LN", "x + F(norm(x))") if pre else ("post-LN", "norm(x + F(x))")
    if pre:
        why = f"norm(x) is [−1, 1], and F makes [{-c}, {c}] of it. Added to x: {mine}{_plus(c * normed)} = {before}."
    else:
        why = (
            f"x + F(x) is [{(1 + c) * low}, {(1 + c) * high}], and the norm comes last. Of two features it leaves −1 "
            "for the smaller and 1 for the larger one."
        )
    return {"low": low, "high": high, "c": c, "pre": pre, "name": name, "formula": formula, "place": place,
            "which": ("first", "second")[place], "why": why, "answer": answer, "wrong": wrong}  # fmt: skip


def _times(factor: int, name: str) -> str:
    """The first term of a sum, with the sign of its factor; a factor of 1 is not written."""
    return f"{'−' if factor < 0 else ''}{'' if abs(factor) == 1 else f'{abs(factor)}·'}{name}"


def gated_width(random: Random) -> Values:
    """Three matrices D × w have as many entries as two D × d_ff at w = 2/3 d_ff."""
    d, factor = random.choice([96, 192, 384, 768, 1536]), random.choice([3, 4, 6])
    d_ff = factor * d
    wrong = {"gate-not-counted": d_ff, "gate-takes-half": d_ff // 2, "three-halves": 3 * d_ff // 2}
    return {"d": d, "d_ff": d_ff, "plain": 2 * d * d_ff, "answer": 2 * d_ff // 3, "wrong": wrong}


def tied_rows(random: Random) -> Values:
    """With a tied table the output softmax reaches every row; a table of its own only the rows looked up."""
    while True:
        size, length, tied = random.choice([20, 30, 50, 100]), random.randrange(5, 9), random.random() < 0.6
        ids = [random.randrange(size) for _ in range(length - 1)]
        ids.insert(random.randrange(length), ids[0])
        inputs, targets = ids[:-1], ids[1:]
        used, both = len(set(inputs)), len(set(inputs) | set(targets))
        answer = size if tied else used
        wrong = {"rows-of-inputs-only" if tied else "all-rows-without-tying": used if tied else size,
                 "targets-counted": both, "places-counted": len(inputs)}  # fmt: skip
        if len({answer, *wrong.values()}) == 4:
            break
    how = (
        "the same table is used for the output: logits = h @ table.T"
        if tied
        else "the output layer has a matrix of its own"
    )
    why = (f"The softmax of the output gives each of the {size} tokens a probability, so each row of the table has the "
           f"gradient (p − y)·h of some position, looked up or not." if tied
           else f"Only rows that were looked up are in the result: the {used} different ones among the inputs. Targets "
                "index the logits; they look nothing up.")  # fmt: skip
    targets_say = (
        f"That counts the tokens that occur. The softmax gives all {size} tokens a probability, not only the targets, "
        "and so it reaches all rows."
        if tied
        else "A target picks the logit whose probability is wanted. It looks nothing up in the table."
    )
    reach = "And the tied output layer uses all rows." if tied else "Only rows that are looked up count."
    return {"size": size, "inputs": inputs, "targets": targets, "tied": tied, "how": how, "why": why, "answer": answer,
            "targets_say": targets_say, "reach": reach, "wrong": wrong}  # fmt: skip


CHANGES = {
    "the width d_head of a head": True,
    "the number of attention weights for a text": True,
    "the largest possible rank of one head's QKᵀ": True,
    "the number of parameters": False,
    "the shape of the attention's output": False,
    "the multiply-adds in QKᵀ, over all heads": False,
}


def more_heads(random: Random) -> Values:
    """What changes with the number of heads at the same width of the model."""
    heads, factor, width = random.choice([2, 3, 4, 6]), random.choice([2, 4]), random.choice([4, 6, 8])
    more = heads * factor
    chosen = random.sample([text for text, changes in CHANGES.items() if changes], 2)
    chosen += random.sample([text for text, changes in CHANGES.items() if not changes], 3)
    if random.random() < 0.5:
        chosen[-1] = next(text for text, changes in CHANGES.items() if changes and text not in chosen)
    options = [{"text": text, "right": CHANGES[text],
                "tag": "heads-change-overlooked" if CHANGES[text] else "heads-change-imagined"}
               for text in chosen]  # fmt: skip
    return {"heads": heads, "more": more, "d": more * width, "before": width * factor, "after": width,
            "n": 2 * width * factor, "options": options}  # fmt: skip


def relu_by_hand(random: Random) -> Values:
    """A network of two hidden numbers, one of which the ReLU sets to 0."""
    while True:
        x = random.choice([-3, -2, -1, 1, 2, 3])
        w1, w2, v1, v2 = (random.choice([-3, -2, -1, 1, 2, 3]) for _ in range(4))
        b1, b2 = random.randrange(-2, 3), random.randrange(-2, 3)
        h1, h2 = w1 * x + b1, w2 * x + b2
        bent = v1 * max(h1, 0) + v2 * max(h2, 0)
        straight = v1 * h1 + v2 * h2
        wrong = {
            "relu-left-out": straight,
            "activation-on-the-output": max(straight, 0),
            "activation-takes-the-size": v1 * abs(h1) + v2 * abs(h2),
        }
        if min(h1, h2) < 0 < max(h1, h2):
            wrong = {tag: value for tag, value in wrong.items() if tag != "activation-on-the-output" or straight < 0}
            if len({bent, *wrong.values()}) == len(wrong) + 1:
                break
    r1, r2 = max(h1, 0), max(h2, 0)
    return {"x": x, "w1": w1, "w2": w2, "b1": b1, "b2": b2, "v1": v1, "v2": v2, "h1": h1, "h2": h2, "r1": r1, "r2": r2,
            "z1": _times(w1, "x") + _plus(b1), "z2": _times(w2, "x") + _plus(b2),
            "out": f"{_times(v1, 'h₁')} {'−' if v2 < 0 else '+'} {_times(abs(v2), 'h₂')}",
            "sum": f"{v1}·{r1}{_plus(v2)}·{r2}", "straight": straight, "answer": bent, "wrong": wrong}  # fmt: skip


def pooling(random: Random) -> Values:
    """The mean over real tokens only."""
    while True:
        real, padding = random.choice([2, 3, 4]), random.choice([1, 2, 3])
        h = [random.randrange(-4, 10) for _ in range(real)] + [random.choice([5, 6, 7])] * padding
        total, everything = sum(h[:real]), sum(h)
        answer = total / real
        wrong = {
            "padding-in-the-mean": everything / (real + padding),
            "sum-over-too-many": total / (real + padding),
            "pad-vectors-added": everything / real,
        }
        if total % real == 0 and len({round(each, 4) for each in (answer, *wrong.values())}) == 4:
            break
    mask = [1] * real + [0] * padding
    code = f"h = torch.tensor([{', '.join(f'{each}.' for each in h)}])\nmask = torch.tensor({mask})"
    return {"h": [float(each) for each in h], "mask": mask, "code": code, "real": real, "slots": real + padding,
            "total": total, "answer": total // real, "wrong": wrong}  # fmt: skip


PRE = ("norm1", "attention", "add what came into norm1", "norm2", "FFN", "add what came into norm2")
POST = ("attention", "add what came into the attention", "norm1", "FFN", "add what came into the FFN", "norm2")


def sub_layer_order(random: Random) -> Values:
    """The six parts of a block, pre-LN or post-LN."""
    pre = random.random() < 0.5
    name, where = ("pre-LN", "on the branches, before attention and FFN") if pre else ("post-LN", "after the sums")
    return {"pre": pre, "name": name, "where": where, "steps": list(PRE if pre else POST)}


SAME = {  # what is done to the input: unchanged by LayerNorm, unchanged by RMSNorm
    "all features times 3": (True, True),
    "all features divided by 2": (True, True),
    "all features plus 5": (True, False),
    "all features minus their mean": (True, False),
    "all features times −1": (False, False),
    "the first feature doubled": (False, False),
}
NORMS = {  # by whether it is LayerNorm: the formula, what it does not notice
    True: (
        "(x − mean) / √variance",
        "LayerNorm takes the mean off and divides by the standard deviation: neither a shift of all features nor a "
        "common factor above 0 is left",
    ),
    False: (
        "x / √(mean of x²)",
        "RMSNorm divides by the size and takes no mean off: a common factor above 0 cancels, a shift of all features "
        "does not",
    ),
}


def same_norm(random: Random) -> Values:
    """Which changes of a token's features a norm does not notice."""
    layer = random.random() < 0.5
    while True:
        features = random.sample([-3, -2, 1, 2, 4, 5, 7, 9], 4)
        if sum(features):  # with a mean of 0, taking it off would change nothing
            break
    chosen = random.sample(sorted(SAME), 5)
    options = [{"text": text, "right": SAME[text][0 if layer else 1],
                "tag": "norm-and-size" if SAME[text][1] else "norm-and-mean" if SAME[text][0] else "norm-too-blind"}
               for text in chosen]  # fmt: skip
    formula, why = NORMS[layer]
    return {"layer": layer, "name": "LayerNorm" if layer else "RMSNorm", "features": features, "formula": formula,
            "why": why, "options": options}  # fmt: skip
