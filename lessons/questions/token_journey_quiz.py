"""Numbers and orders for the questions on a token's journey through a classifier."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from grader.api.questions import distinct_sizes

# --- the steps in order -----------------------------------------------------------------------------------------------

WHOLE = {
    "tokenise": "cut the text into tokens and name each by its id",
    "embed": "take the row of each id from the embedding table: {d} numbers",
    "positions": "add the vector of each position",
    "attn": "let the tokens of block 1 read from each other",
    "ffn": "let the small network of block 1 work on each token",
    "pool": "take the mean over the positions: one vector of {d} numbers",
    "classify": "map that vector to {classes} logits",
    "loss": "compare softmax of the logits with the label",
}
BEFORE = {"tokenise": "name each token of the text by its id", "embed": WHOLE["embed"], "positions": WHOLE["positions"]}
AFTER = {"pool": WHOLE["pool"], "classify": WHOLE["classify"]}
PRE_FRONT = BEFORE | {
    "norm1": "normalise each token on its way into attention",
    "attn": "let the tokens read from each other",
    "add1": "add what attention gives to the sum of embedding and position",
}
POST_FRONT = BEFORE | {
    "attn": "let the tokens read from each other",
    "add1": "add what attention gives to the sum of embedding and position",
    "norm1": "normalise each token of the new sum",
}
PRE_BACK = {
    "norm2": "normalise each token of h on its way into the network",
    "ffn": "let the small network work on each token",
    "add2": "add to h what the network gives",
    "final": "normalise each token of the sum",
} | AFTER
POST_BACK = {
    "ffn": "let the small network work on each token of h",
    "add2": "add to h what the network gives",
    "norm2": "normalise each token of the sum",
} | AFTER
WAYS_IN = (  # norm_first, what is asked, the steps
    (True, "These steps lead from a text to the loss of an encoder that classifies it.", WHOLE),
    (True, "These steps lead from a text to the middle of the first block, which is pre-LN.", PRE_FRONT),
    (False, "These steps lead from a text to the middle of the first block, which is post-LN (2017).", POST_FRONT),
)
WAYS_OUT = (
    (True, "The last block is pre-LN, and one more norm follows it. h is its stream after attention. These steps lead "
     "from h to the logits.", PRE_BACK),
    (False, "The last block is post-LN (2017). h is what its first norm gives. These steps lead from h to the logits.",
     POST_BACK),
)  # fmt: skip


def way_in(random: Random) -> dict[str, Any]:
    """The steps from a text into the first block, or through the whole model, in order."""
    return _steps(random, *random.choice(WAYS_IN))


def way_out(random: Random) -> dict[str, Any]:
    """The steps from the middle of the last block to the logits, in order."""
    return _steps(random, *random.choice(WAYS_OUT))


def _steps(random: Random, norm_first: bool, asked: str, named: dict[str, str]) -> dict[str, Any]:
    sizes = {"d": random.choice([96, 128, 256, 384]), "classes": random.choice([2, 3, 5, 7])}
    texts = {key: text.format(**sizes) for key, text in named.items()}
    return {**sizes, "asked": asked, "steps": list(texts.values()), "texts": texts, "norm_first": norm_first}


# --- what reaches what ------------------------------------------------------------------------------------------------

ATTENTION = "(x @ x.transpose(1, 2)).softmax(dim=-1) @ x"
MIXING = {
    "x.softmax(dim=1)": "axes-confused",
    "x - x.mean(dim=1, keepdim=True)": "axes-confused",
    "x.cumsum(dim=1)": "axes-confused",
    "x + x.roll(1, dims=1)": "axes-confused",
    "nn.LayerNorm(({n}, {d}))(x)": "axes-confused",
}
APART = {
    "nn.LayerNorm({d})(x)": "norm-mixes-tokens",
    "nn.Linear({d}, {d_ff})(x).relu()": "ffn-mixes-tokens",
    "x + nn.Embedding({n}, {d})(torch.arange({n}))": "positions-mix-tokens",
    "x.softmax(dim=-1)": "axes-confused",
    "x - x.mean(dim=-1, keepdim=True)": "axes-confused",
}


def mixers(random: Random) -> dict[str, Any]:
    """Operations on (B, T, D), some of which carry information along the positions."""
    b, n, d = distinct_sizes(random, 3, (3, 4, 5, 6, 7, 9, 10))
    sizes = {"b": b, "n": n, "d": d, "d_ff": 4 * d}
    first = random.choice(sorted(APART)[:2])
    rest = random.sample([code for code in APART if code != first], 2)
    mixing = random.choice(list(MIXING))
    options = [{"text": ATTENTION, "right": True, "tag": "mixing-not-seen"}]
    options += [{"text": mixing.format(**sizes), "right": True, "tag": MIXING[mixing]}]
    options += [{"text": code.format(**sizes), "right": False, "tag": APART[code]} for code in (first, *rest)]
    return {**sizes, "options": options, "other": mixing.format(**sizes)}


MASKS = {
    "none": "There is no padding mask, and the mean is taken over all positions, padded ones too.",
    "attention": "In attention a mask hides the padded keys; the mean is taken over all positions, padded ones too.",
    "both": "In attention a mask hides the padded keys, and the mean is taken over real tokens only.",
}
NORMS = {
    "layer": "Its norms are LayerNorm.",
    "batch": "Its norms are BatchNorm1d in training mode, over all positions of all rows, padded ones too.",
}
PADDING = {
    "none": "Without a mask a padded position is a token like others: attention reads it, and the mean counts it.",
    "attention": "The mask keeps padded keys out of attention, but the mean still counts the padded positions.",
    "both": "Padded positions are out of attention and out of the mean.",
}
ACROSS = {
    "layer": "LayerNorm looks at one token only, so rows never meet.",
    "batch": "BatchNorm takes its statistics over the whole batch, so all that is in it reaches every row.",
}


def what_changes(random: Random) -> dict[str, Any]:
    """Which changes of a batch can reach the logits of its row 0, given the masks and the kind of norm."""
    mask = random.choice(sorted(MASKS))
    norm = random.choice(["layer", "layer", "batch"])
    n, real = random.choice([9, 10, 12]), random.choice([5, 6, 7])
    batch, padded = norm == "batch", mask != "both" or norm == "batch"
    rows = "batch-norm-per-row" if batch else "norm-over-batch"
    one, other = sorted(random.sample(range(real), 2))
    own = [
        {"text": f"another id at position {one} of row 0", "right": True, "tag": "mixing-not-seen"},
        {"text": f"exchanging the different ids at positions {one} and {other} of row 0", "right": True,
         "tag": "position-forgotten"},
    ]  # fmt: skip
    options = [
        random.choice(own),
        {"text": f"another id at the padded position {n - 1} of row 0", "right": padded, "tag": "padding-misjudged"},
        {"text": "three more padded positions at the end of all rows", "right": padded, "tag": "padding-misjudged"},
        {"text": "another id at position 0 of row 1", "right": batch, "tag": rows},
        {"text": "taking row 1 out of the batch", "right": batch, "tag": rows},
    ]
    padding = "BatchNorm counts padded positions in its mean and variance." if batch else PADDING[mask]
    return {
        "n": n, "real": real, "last": real - 1, "mask": mask, "norm": norm, "options": options, "padding": padding,
        "says": f"{MASKS[mask].format(n=n)} {NORMS[norm]}", "why": f"{PADDING[mask]} {ACROSS[norm]}",
    }  # fmt: skip


# --- the stream -------------------------------------------------------------------------------------------------------


def stream(random: Random) -> dict[str, Any]:
    """A block on a stream of one number: each residual adds the input of its own branch."""
    while True:
        x, a, b = random.randint(2, 7), random.choice([-3, -2, 2, 3, 4]), random.choice([-3, -2, 2, 3, 4])
        h = x + a * x
        answer = h + b * h
        wrong = {
            "residual-adds-original": x + b * h,
            "branch-replaces-stream": b * a * x,
            "parallel-branches": x + a * x + b * x,
        }
        if len({answer, *wrong.values()}) == 4:
            break
    total = f"{h} + {b * h}" if b * h > 0 else f"{h} − {-b * h}"
    return {
        "x": x,
        "a": a,
        "b": b,
        "read": a * x,
        "h": h,
        "thought": b * h,
        "total": total,
        "answer": answer,
        "wrong": wrong,
    }


LINES = (
    "def loss(self, ids, labels):",
    "    e = self.embed(ids)",
    "    x = e + self.positions[: ids.size(1)]",
    "    h = x + self.attn(self.norm1(x))",
    "    out = h + self.ffn(self.norm2(h))",
    "    pooled = self.norm(out).mean(dim=1)",
    "    logits = self.classify(pooled)",
    "    return functional.cross_entropy(logits, labels)",
)
BUGS = (  # the number of a line, what stands there, why it is wrong
    (3, "x = e + self.positions[ids]", "Row i of the positions belongs to place i, whichever token stands there. "
     "Looked up by id it is a second embedding, and the order of the tokens is lost."),
    (4, "h = e + self.attn(self.norm1(x))", "The residual adds the input of the branch, x. With e the positions would "
     "be taken out of the stream."),
    (4, "h = self.attn(self.norm1(x))", "Without x the stream keeps only what attention fetched, and the straight way "
     "back for the gradient is gone."),
    (4, "h = x + self.attn(self.norm1(e))", "Attention would not see the positions: they are in x, not in e."),
    (5, "out = x + self.ffn(self.norm2(h))", "The residual adds the input of its own branch, h. With x everything "
     "that attention wrote is lost from the stream."),
    (5, "out = e + self.ffn(self.norm2(h))", "It is not the embedding that each residual adds, but the input of its "
     "own branch, h. The embedding is still in there, as a part of the sum."),
    (5, "out = h + self.ffn(self.norm2(x))", "The network of this block works on what attention wrote: it reads h. "
     "Fed with x, the branches would be parallel, which is another kind of block."),
    (6, "pooled = self.norm(h).mean(dim=1)", "h is the stream before the network; what the network added is only in "
     "out."),
    (7, "logits = self.classify(pooled).softmax(dim=-1)", "cross_entropy applies log-softmax to what it is given. "
     "With a softmax before it, there would be two."),
    (8, "return functional.nll_loss(logits, labels)", "nll_loss expects logarithms of probabilities; these are "
     "logits. cross_entropy takes the log-softmax itself."),
)  # fmt: skip
BLAMED = {"residual-adds-original": 5, "softmax-before-cross-entropy": 8, "pooled-over-features": 6}


def planted_mistake(random: Random) -> dict[str, Any]:
    """A classifier of one block as code, one line of it wrong."""
    line, planted, why = random.choice(BUGS)
    code = "\n".join(f"    {planted}" if number == line else text for number, text in enumerate(LINES, 1))
    wrong = {tag: blamed for tag, blamed in BLAMED.items() if blamed != line}
    return {"code": code, "answer": line, "fix": LINES[line - 1].strip(), "why": why, "wrong": wrong}


# --- one layer at a time ----------------------------------------------------------------------------------------------


def lookup(random: Random) -> dict[str, Any]:
    """A token's vector with its position: the row of its id from one table, the row of its place from the other."""
    place, token = random.sample(range(3), 2)
    ids = [random.randrange(4) for _ in range(3)]
    ids[place] = token
    while True:
        table = [[random.randrange(1, 10) for _ in range(2)] for _ in range(4)]
        positions = [[random.randrange(5) for _ in range(2)] for _ in range(3)]
        answer = _sum(table[token], positions[place])
        wrong = {"position-by-id": _sum(table[token], positions[token]), "position-forgotten": table[token],
                 "row-by-position": _sum(table[place], positions[place])}  # fmt: skip
        if len({str(each) for each in (answer, *wrong.values())}) == 4:
            break
    lines = [f"table = torch.tensor({table})", f"positions = torch.tensor({positions})", f"ids = torch.tensor({ids})"]
    lines += ["x = table[ids] + positions", f"print(x[{place}].tolist())"]
    return {"code": "\n".join(lines), "place": place, "token": token, "row": str(table[token]),
            "at_place": str(positions[place]), "at_id": str(positions[token]), "row_of_place": str(table[place]),
            "answer": str(answer), "wrong": {tag: str(value) for tag, value in wrong.items()}}  # fmt: skip


def _sum(one: list[int], other: list[int]) -> list[int]:
    return [a + b for a, b in zip(one, other, strict=True)]


def layer_norm(random: Random) -> dict[str, Any]:
    """LayerNorm of a token of two features: ±1 each, then its gain and shift."""
    gain, shift = random.sample([2, 3, 4, 5], 2), random.sample([-4, -3, -1, 1, 6, 7], 2)
    which = random.randrange(2)
    while True:
        x = [random.sample(range(1, 10), 2) for _ in range(2)]
        token, other = x[which], x[1 - which]
        signs = [1, -1] if token[0] > token[1] else [-1, 1]
        if token[0] != other[0] and token[1] != other[1]:
            across = [1 if mine > theirs else -1 for mine, theirs in zip(token, other, strict=True)]
            answer = _scaled(signs, gain, shift)
            sample = _scaled([sign / math.sqrt(2) for sign in signs], gain, shift)
            wrong = {"norm-over-tokens": str(_scaled(across, gain, shift)), "norm-without-gain": str(signs),
                     "norm-by-sample-std": str([round(each) for each in sample])}  # fmt: skip
            if len({str(answer), *wrong.values()}) == 4:
                break
    lines = ["norm = nn.LayerNorm(2)", f"norm.weight.data = torch.tensor({[float(each) for each in gain]})",
             f"norm.bias.data = torch.tensor({[float(each) for each in shift]})",
             f"x = torch.tensor({[[float(each) for each in row] for row in x]})   # two tokens",
             f"print(norm(x)[{which}].round().int().tolist())"]  # fmt: skip
    low, high = min(token), max(token)
    return {"code": "\n".join(lines), "which": which, "token": str(token), "signs": str(signs), "gain": str(gain),
            "shift": str(shift), "mean": (low + high) / 2, "std": (high - low) / 2,
            "answer": str(answer), "wrong": wrong}  # fmt: skip


def _scaled(signs: list[Any], gain: list[int], shift: list[int]) -> list[Any]:
    return [sign * times + plus for sign, times, plus in zip(signs, gain, shift, strict=True)]


def table_parameters(random: Random) -> dict[str, Any]:
    """A table of V embeddings and one of n_max learned positions, D numbers a row."""
    vocabulary, longest = random.choice([1000, 2000, 3000, 5000]), random.choice([50, 64, 100, 128, 200])
    d, n = random.choice([16, 24, 32, 40, 48]), random.choice([7, 11, 12, 18])
    answer = (vocabulary + longest) * d
    wrong = {"positions-without-parameters": vocabulary * d, "table-of-this-text": (n + n) * d,
             "table-per-position": vocabulary * longest * d, "width-forgotten": vocabulary + longest}  # fmt: skip
    return {"vocabulary": vocabulary, "longest": longest, "d": d, "n": n, "rows": vocabulary + longest,
            "answer": answer, "wrong": wrong}  # fmt: skip


def ffn_parameters(random: Random) -> dict[str, Any]:
    """Two linear layers with biases, D -> d_ff -> D, the same for all positions."""
    d, n = random.choice([5, 6, 8, 10, 12, 20]), random.choice([7, 9, 11, 15])
    d_ff = 4 * d
    weights = 2 * d * d_ff
    answer = weights + d_ff + d
    wrong = {"ffn-per-position": n * answer, "biases-forgotten": weights, "ffn-one-layer": d * d_ff + d_ff}
    return {"d": d, "d_ff": d_ff, "n": n, "weights": weights, "biases": d_ff + d, "answer": answer, "wrong": wrong}


def shapes(random: Random) -> dict[str, Any]:
    """The shapes on the way from ids to logits."""
    b, n, d, classes = distinct_sizes(random, 4, (2, 3, 4, 5, 6, 7, 9, 10, 11))
    d_ff = 4 * d
    wrong = [
        {"tag": "scores-over-features", "blank": 1, "shape": [b, d, d]},
        {"tag": "batch-forgotten", "blank": 1, "shape": [n, n]},
        {"tag": "ffn-on-pooled", "blank": 2, "shape": [b, d_ff]},
        {"tag": "pooled-over-features", "blank": 3, "shape": [b, n]},
        {"tag": "pooled-over-batch", "blank": 3, "shape": [n, d]},
        {"tag": "logits-for-every-token", "blank": 4, "shape": [b, n, classes]},
    ]
    return {"b": b, "n": n, "d": d, "d_ff": d_ff, "classes": classes, "vocabulary": 50, "wrong": wrong,
            "answer": [(b, n, n), (b, n, d_ff), (b, d), (b, classes)]}  # fmt: skip


def double_softmax(random: Random) -> dict[str, Any]:
    """The loss of a perfect answer if probabilities are given to a cross-entropy that expects logits."""
    classes = random.randint(2, 20)
    answer = math.log(1 + (classes - 1) / math.e)
    wrong = {"softmax-before-cross-entropy": 0, "loss-of-equal-scores": math.log(classes)}
    return {"classes": classes, "others": classes - 1, "equal": math.log(classes), "share": math.exp(-answer),
            "zeros": ", ".join(["1.0", *["0.0"] * (classes - 1)]), "answer": answer, "wrong": wrong}  # fmt: skip
