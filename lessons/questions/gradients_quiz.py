"""Numbers for the questions on how the gradient flows back."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random
from typing import Any

Values = dict[str, Any]


def first_loss(random: Random) -> Values:
    """Equal probabilities for all classes cost ln(classes), however large the batch."""
    classes, batch = random.choice([3, 4, 5, 6, 7, 9, 10, 12, 15, 20]), random.choice([8, 16, 24, 32])
    answer = math.log(classes)
    wrong = {
        "loss-in-bits": math.log2(classes),
        "loss-summed-over-batch": batch * answer,
        "probability-for-loss": 1 / classes,
    }
    return {"classes": classes, "batch": batch, "summed": batch * answer, "bits": math.log2(classes),
            "answer": answer, "wrong": wrong}  # fmt: skip


def logit_gradient(random: Random) -> Values:
    """p − y at one of four logits; now the right class, now another one."""
    shares = random.choice([(1, 2, 8, 9), (1, 4, 6, 9), (3, 4, 5, 8), (1, 2, 5, 12), (2, 4, 6, 8), (1, 3, 7, 9)])
    p = [share / 20 for share in random.sample(shares, 4)]
    target = random.randrange(4)
    asked = target if random.random() < 0.5 else random.choice([place for place in range(4) if place != target])
    y = int(asked == target)
    answer = round(p[asked] - y, 6)
    wrong = {"logit-gradient-sign": -answer}
    if y:
        wrong |= {
            "target-not-subtracted": p[asked],
            "gradient-at-the-probability": -1 / p[asked],
            "softmax-slope-alone": p[asked] * (1 - p[asked]),
        }
    else:
        wrong |= {"only-the-target-is-pushed": 0.0, "target-everywhere": p[asked] - 1}
    shown = {f"p{place}": value for place, value in enumerate(p)}
    return {**shown, "p": p, "target": target, "asked": asked, "mine": p[asked], "y": y, "answer": answer,
            "sign": -answer, "wrong": wrong}  # fmt: skip


def pool_share(random: Random) -> Values:
    """Masked mean pooling hands each real token an equal share of the gradient."""
    real = random.choice([3, 4, 5, 6, 8])
    slots = real + random.choice([2, 3, 4, 7])
    share = random.choice([-0.3, -0.2, 0.05, 0.1, 0.15, 0.2, 0.4])
    whole = round(share * real, 6)
    wrong = {"pool-gives-the-whole": whole, "padding-in-the-mean": whole / slots, "pool-multiplies": whole * real}
    return {"real": real, "slots": slots, "whole": whole, "answer": share, "with_padding": whole / slots,
            "wrong": wrong}  # fmt: skip


def score_gradient(random: Random) -> Values:
    """Two keys: the gradient at the first score is a(1 − a)(g·v₁ − g·v₂)."""
    while True:
        a = random.choice([0.1, 0.2, 0.25, 0.4, 0.5, 0.6, 0.75, 0.8, 0.9])
        one, two = random.sample([-4, -3, -2, -1, 1, 2, 3, 4, 5], 2)
        slope = round(a * (1 - a), 6)
        answer = round(slope * (one - two), 6)
        wrong = {"stops-at-the-weight": one, "softmax-elementwise": slope * one, "weight-for-slope": a * (one - two)}
        values = sorted([answer, *wrong.values()])
        if min(high - low for low, high in pairwise(values)) > 0.01:
            break
    return {"a": a, "rest": round(1 - a, 6), "one": one, "two": two, "slope": slope, "difference": one - two,
            "own": slope * one, "weighted": a * (one - two), "answer": answer, "wrong": wrong}  # fmt: skip


SCORES = "Back through the softmax, s₁ has the gradient a(1 − a)·g·(v1 − v2) and s₂ its negative."
BY_HAND = {  # of what: the gradient, the wrong formulas, why
    "q": ("a*(1-a)*g*(v1-v2)*c*(k1-k2)",
          {"score-scale-forgotten": "a*(1-a)*g*(v1-v2)*(k1-k2)",
           "softmax-elementwise": "a*(1-a)*g*c*(v1*k1+v2*k2)",
           "weight-for-slope": "a*g*(v1-v2)*c*(k1-k2)"},
          f"{SCORES} The query is in both scores, so c·k1 times the one and c·k2 times the other are added."),
    "k1": ("a*(1-a)*g*(v1-v2)*c*q",
           {"score-scale-forgotten": "a*(1-a)*g*(v1-v2)*q",
            "softmax-elementwise": "a*(1-a)*g*v1*c*q",
            "weight-for-slope": "a*g*(v1-v2)*c*q"},
           f"{SCORES} The first key is in s₁ only, with the factor c·q."),
    "k2": ("a*(1-a)*g*(v2-v1)*c*q",
           {"score-scale-forgotten": "a*(1-a)*g*(v2-v1)*q",
            "softmax-elementwise": "a*(1-a)*g*v2*c*q",
            "weight-for-slope": "(1-a)*g*(v2-v1)*c*q"},
           f"{SCORES} The second key is in s₂ only, with the factor c·q."),
    "v1": ("a*g",
           {"values-behind-the-softmax": "a*(1-a)*g", "value-gets-the-whole": "g"},
           "The values enter after the softmax. v1 has the share a of the output, and so of its gradient."),
    "v2": ("(1-a)*g",
           {"values-behind-the-softmax": "a*(1-a)*g", "value-gets-the-whole": "g"},
           "The values enter after the softmax. v2 has the share 1 − a of the output, and so of its gradient."),
}  # fmt: skip


def two_tokens(random: Random) -> Values:
    """The gradient at one of the five inputs of a head of width 1 that reads two tokens."""
    name = random.choice(sorted(BY_HAND))
    answer, wrong, why = BY_HAND[name]
    symbols = {"a": (0.1, 0.9)} | {each: (0.5, 3.0) for each in ("g", "c", "q", "k1", "k2", "v1", "v2")}
    return {"name": name, "answer": answer, "wrong": wrong, "why": why, "symbols": symbols}


HEAD = """\
Q, K, V = X @ W_Q, X @ W_K, X @ W_V
S = Q @ K.T / {d}**0.5
A = torch.softmax(S, dim=-1)
H = A @ V
out = H @ W_O
(out * G).sum().backward()"""
CUTS = [  # rows of X (0: any number), a part of the code, what stands there instead, which parameters learn, why
    (0, "", "", "QKVO", "Nothing is cut: all four are on a path to the loss."),
    (0, "A = torch.softmax(S, dim=-1)", "A = torch.softmax(S, dim=-1).detach()", "VO",
     "detach cuts the weights off. W_Q and W_K reach the loss through them only; V and W_O come after."),
    (0, "A @ V", "A @ V.detach()", "QKO",
     "Only the way from H to V is cut. The gradient at the weights A is made with V's numbers, and those are there."),
    (0, "Q @ K.T", "Q.detach() @ K.T", "KVO",
     "Only the way from the scores to Q is cut; K gets its gradient, with Q's numbers as the factor."),
    (0, "Q @ K.T", "Q @ K.detach().T", "QVO",
     "Only the way from the scores to K is cut; Q gets its gradient, with K's numbers as the factor."),
    (0, "H @ W_O", "H.detach() @ W_O", "O", "Everything before H is cut off; W_O comes after the cut."),
    (0, "S = Q @ K.T / {d}**0.5", "S = 1e6 * Q @ K.T", "VO",
     "Every row is saturated: one weight is exactly 1, the others 0, and the slope of softmax there is 0."),
    (0, "torch.softmax(S, dim=-1)", "torch.ones({n}, {n}) / {n}", "VO",
     "The weights are constants that no parameter made, so nothing goes back through them."),
    (0, "torch.softmax(S, dim=-1)", "torch.eye({n})", "VO",
     "The weights are constants that no parameter made, so nothing goes back through them."),
    (1, "", "", "VO",
     "With one token its weight is 1 whatever the score is, so the score has no influence and no gradient."),
]  # fmt: skip


def which_learn(random: Random) -> Values:
    """Which of a head's four matrices get a gradient that is not zero, in one of ten variants of the code."""
    rows, old, new, learn, why = random.choice(CUTS)
    n, d = rows or random.randrange(3, 8), random.choice([4, 8, 12])
    code = HEAD.replace(old, new) if old else HEAD
    tags = {"Q": "path-to-scores", "K": "path-to-scores", "V": "path-to-values", "O": "path-to-values"}
    options = [{"text": f"W_{each}", "right": each in learn, "tag": tags[each]} for each in "QKVO"]
    return {"n": n, "d": d, "rows": "1 row" if n == 1 else f"{n} rows", "code": code.format(n=n, d=d), "why": why,
            "options": options}  # fmt: skip


def softmax_slope(random: Random) -> Values:
    """∂aᵢ/∂sⱼ: aᵢ(1 − aᵢ) on the diagonal, −aᵢaⱼ beside it."""
    while True:
        weights = random.choice([(0.5, 0.3, 0.2), (0.6, 0.3, 0.1), (0.9, 0.08, 0.02), (0.7, 0.2, 0.1),
                                 (0.95, 0.04, 0.01), (0.9, 0.06, 0.04)])  # fmt: skip
        a = random.sample(weights, 3)
        i, j = random.randrange(3), random.randrange(3)
        off, diagonal = -a[i] * a[j], a[i] * (1 - a[i])
        answer = diagonal if i == j else off
        if i == j:
            wrong = {"softmax-elementwise": a[i], "slope-of-the-others": off, "weight-left-for-slope": 1 - a[i]}
        else:
            wrong = {"softmax-elementwise": 0.0, "slope-sign": -off, "slope-of-its-own": diagonal}
        if len({round(each, 8) for each in (answer, *wrong.values())}) == 4:
            break
    why = (f"{a[i]:g} × (1 − {a[i]:g})" if i == j else f"−{a[i]:g} × {a[j]:g}")  # fmt: skip
    return {"a": a, "a1": a[0], "a2": a[1], "a3": a[2], "i": i + 1, "j": j + 1, "why": why,
            "answer": round(answer, 10), "wrong": wrong}  # fmt: skip


def embedding_rows(random: Random) -> Values:
    """Each occurrence of a token adds 1 to the gradient of its row; rows of absent tokens stay 0."""
    rows, width, length = random.randrange(4, 7), random.choice([2, 3, 8]), random.randrange(4, 7)
    while True:
        ids = [random.randrange(rows) for _ in range(length)]
        counts = [ids.count(row) for row in range(rows)]
        if 0 in counts and max(counts) > 1:
            break
    wrong = {
        "one-gradient-for-a-row": str([float(count > 0) for count in counts]),
        "all-rows-learn": str([1.0] * rows),
        "gradient-at-the-positions": str([1.0] * length),
    }
    if length == rows:
        del wrong["gradient-at-the-positions"]
    often = max(range(rows), key=counts.__getitem__)
    return {"rows": rows, "width": width, "ids": ids, "listed": str(ids), "often": often, "times": counts[often],
            "absent": counts.index(0), "answer": str(list(map(float, counts))), "wrong": wrong}  # fmt: skip


def residual_paths(random: Random) -> Values:
    """Three residual layers: the derivative is the product of 1 + F′."""
    while True:
        f = random.sample([-0.5, -0.2, 0.1, 0.2, 0.5, 1, 2, 3], 3)
        answer = math.prod(1 + each for each in f)
        branches = math.prod(f)
        wrong = {
            "skips-carry-nothing": branches,
            "gradient-by-skips-only": 1,
            "one-skip-around-all": 1 + branches,
            "paths-not-multiplied": 1 + sum(f),
        }
        values = sorted([answer, *wrong.values()])
        if min(high - low for low, high in pairwise(values)) > 0.05:
            break
    product = " × ".join(f"{1 + each:g}" for each in f)
    return {"f1": f[0], "f2": f[1], "f3": f[2], "product": product, "branches": branches, "added": 1 + sum(f),
            "answer": round(answer, 6), "wrong": wrong}  # fmt: skip


LEARNED = (
    "the table of token embeddings", "a learned table of positions", "the matrix W_Q of a head",
    "the scale γ of a LayerNorm", "the first matrix of the FFN", "the bias of the classifier",
)  # fmt: skip
NOT_LEARNED = {
    "the tokenizer's list of tokens": "tokenizer-learns",
    "sinusoidal positions": "sinusoids-learn",
    "the attention weights A": "weights-are-parameters",
    "the number of heads": "choices-learn",
    "the causal mask": "choices-learn",
}


def what_is_learned(random: Random) -> Values:
    """What one step of the optimiser changes: parameters, and nothing else."""
    learned = random.sample(LEARNED, random.choice([2, 3]))
    fixed = random.sample(sorted(NOT_LEARNED), 5 - len(learned))
    options = [{"text": text, "right": True, "tag": "parameter-overlooked"} for text in learned]
    options += [{"text": text, "right": False, "tag": NOT_LEARNED[text]} for text in fixed]
    return {"options": options, "learned": "; ".join(learned)}


BACKWARD = """\
A = torch.softmax(Q @ K.T / {d}**0.5, dim=-1)
dV = A.T @ G
dA = G @ V.T
dS = A * (dA - (A * dA).sum(dim=-1, keepdim=True))
dQ = dS @ K / {d}**0.5
dK = dS.T @ Q / {d}**0.5"""
SLIPS = {  # what stands there in place of the right line: the line, why it is wrong
    "dV = A @ G": (2, "Value j is in output i with the weight A[i, j], so its gradient sums down column j of A."),
    "dA = A * (G @ V.T)": (3, "The output is A @ V, so the gradient at A is G @ V.T; A comes in one line later."),
    "dS = A * dA": (4, "All weights of a row are tied to sum to 1: the row's weighted mean of dA has to be taken off."),
    "dS = A * (dA - (A * dA).sum(dim=0, keepdim=True))": (
        4, "Softmax runs over each row, so the sum to take off is over the row, dim=-1, not down the column."),
    "dS = A * (dA - dA.sum(dim=-1, keepdim=True))": (
        4, "What is taken off is the mean of dA with the row's weights, so A * dA is summed."),
    "dS = A * (1 - A) * dA": (4, "A(1 − A) is only the diagonal of the Jacobian: a score moves other weights too."),
    "dQ = dS @ K": (5, "The scores were divided by √d_k, so their gradient is divided by it on the way back."),
    "dQ = dS.T @ K / {d}**0.5": (5, "Row i of the scores belongs to query i: its gradient is row i of dS times K."),
    "dK = dS @ Q / {d}**0.5": (6, "Key j is in column j of the scores, so its gradient sums down that column: dS.T."),
    "dK = dS.T @ Q": (6, "The scores were divided by √d_k, so their gradient is divided by it as well."),
}  # fmt: skip


def by_hand(random: Random) -> Values:
    """The backward pass of one head, written out, with one line wrong."""
    n, d = random.choice([3, 5, 6]), random.choice([4, 8, 16])
    slip = random.choice(sorted(SLIPS))
    line, why = SLIPS[slip]
    lines = BACKWARD.format(d=d).split("\n")
    fix, lines[line - 1] = lines[line - 1], slip.format(d=d)
    blamed = {"values-need-no-transpose": 2, "slope-needs-no-mean": 4, "keys-need-no-transpose": 6}
    wrong = {tag: place for tag, place in blamed.items() if place != line}
    return {"n": n, "d": d, "code": "\n".join(lines), "answer": line, "fix": fix, "why": why, "wrong": wrong}


def backward_order(random: Random) -> Values:
    """Tensors of a pre-LN classifier in the order in which their gradients are complete."""
    blocks = random.choice([2, 3])
    chain = ["the logits", "the pooled vector"]
    for block in range(blocks, 0, -1):
        chain += [
            f"the hidden layer of the FFN in block {block}",
            f"the stream between attention and FFN in block {block}",
            f"the weights A of block {block}",
            f"the scaled scores of block {block}",
        ]
    chain.append("token embeddings plus positions")
    chosen = sorted(random.sample(range(len(chain)), 6))
    return {"blocks": blocks, "steps": [chain[place] for place in chosen]}


def backward_shapes(random: Random) -> Values:
    """Shapes on the way back through a head with T queries and S keys."""
    queries, keys, d_k, d_v = random.sample([2, 3, 4, 5, 6, 7, 9, 10, 11], 4)
    wrong = [
        {"tag": "gradient-transposed", "blank": 1, "shape": [d_v, keys]},
        {"tag": "gradient-transposed", "blank": 2, "shape": [keys, queries]},
        {"tag": "gradient-transposed", "blank": 4, "shape": [d_k, keys]},
        {"tag": "query-shape-for-keys", "blank": 4, "shape": [queries, d_k]},
        {"tag": "summed-axis-lost", "blank": 3, "shape": [queries]},
        {"tag": "summed-over-queries", "blank": 3, "shape": [1, keys]},
    ]
    return {"queries": queries, "keys": keys, "d_k": d_k, "d_v": d_v,
            "answer": [[keys, d_v], [queries, keys], [queries, 1], [keys, d_k]], "wrong": wrong}  # fmt: skip


def initialisation(random: Random) -> Values:
    """The standard deviation that keeps the variance: one over the root of the number of inputs."""
    inputs, outputs = random.sample([24, 32, 48, 64, 96, 128, 192, 256, 384, 512], 2)
    wrong = {"init-variance-for-std": 1 / inputs, "init-by-outputs": outputs**-0.5, "init-fixed": 1}
    return {"inputs": inputs, "outputs": outputs, "answer": inputs**-0.5, "wrong": wrong}
