"""Numbers for the questions on what attention does and what the feed-forward network does."""

from __future__ import annotations

from math import log, log2
from random import Random
from typing import Any

from grader.api.questions import fill

# --- linear or not ----------------------------------------------------------------------------------------------------

# The weights of two keys as whole numbers, and a factor on all tokens whose square is easy to raise them to.
# None comes so close to 1 that a plain 1 would be near enough.
PAIRS = [((2, 1), 2), ((3, 1), 2), ((3, 2), 2), ((4, 3), 2), ((5, 2), 2), ((5, 3), 2), ((5, 4), 2), ((3, 2), 3),
         ((16, 1), 0.5), ((81, 1), 0.5), ((256, 1), 0.5), ((81, 16), 0.5), ((256, 81), 0.5)]  # fmt: skip


def scaled_tokens(random: Random) -> dict[str, Any]:
    """With all tokens times c each score is times c², as query and key both come from the tokens. So a : b becomes
    a^(c²) : b^(c²)."""
    pair, factor = random.choice(PAIRS)
    one, two = random.sample(pair, 2)
    square = factor**2
    wrong = {
        "weights-keep-scale": one / (one + two),
        "one-factor-scaled": one**factor / (one**factor + two**factor),
        "softmax-is-linear": factor * one / (one + two),
    }
    return {"one": one, "two": two, "total": one + two, "factor": factor, "square": square, "new_one": one**square,
            "new_two": two**square, "answer": one**square / (one**square + two**square), "wrong": wrong}  # fmt: skip


def frozen_weights(random: Random) -> dict[str, Any]:
    """For fixed weights the output is linear in V, and as weights sum to 1, adding c to all values adds c to it."""
    keys, factor = random.choice([5, 6, 7, 8]), random.choice([2, 3, 4])
    before, added = random.choice([-7, -6, -4, -3, 5, 6, 7, 8, 9]), random.choice([10, 20, 30, 50])
    wrong = {
        "shift-for-each-key": factor * before + keys * added,
        "value-shift-cancels": factor * before,
        "shift-multiplied-too": factor * (before + added),
        "output-stays-with-weights": before,
    }
    return {"keys": keys, "factor": factor, "before": before, "added": added, "scaled": factor * before,
            "answer": factor * before + added, "wrong": wrong}  # fmt: skip


LINEAR = [
    "V ↦ A·V, where A are fixed weights",
    "Q ↦ Q·Kᵀ, where K is fixed",
    "X ↦ X·W_V",
    "X ↦ the mean of its rows",
    "x ↦ x + x·W",
    "K ↦ Q·Kᵀ/√D, where Q is fixed",
]
BENT = [
    ("softmax-is-linear", "S ↦ softmax(S), for the scores S"),
    ("attention-is-linear", "X ↦ softmax(X·Xᵀ)·X"),
    ("attention-is-linear", "X ↦ softmax(X·Xᵀ)·V, where V is fixed"),
    ("product-is-linear", "X ↦ X·Xᵀ"),
    ("product-is-linear", "X ↦ (X·W_Q)·(X·W_K)ᵀ"),
    ("activation-is-linear", "x ↦ gelu(x)"),
    ("norm-is-linear", "x ↦ LayerNorm(x)"),
]


def linear_maps(random: Random) -> dict[str, Any]:
    """Which steps of a block are linear maps of what is named before the arrow."""
    count = random.choice([2, 3])
    options = [{"text": text, "right": True, "tag": "fixed-product-bends"} for text in random.sample(LINEAR, count)]
    options += [{"text": text, "right": False, "tag": tag} for tag, text in random.sample(BENT, 5 - count)]
    return {"options": options}


BEND = """\
w1 = torch.tensor({w1})  # from 1 number to 2
w2 = torch.tensor({w2})  # and back to 1

def ffn(x):
    return (torch.relu(x * w1) * w2).sum().item()

print([ffn({x}), ffn({minus})])"""


def bend(random: Random) -> dict[str, Any]:
    """A network of two hidden neurons, of which one is on for x > 0 and the other for x < 0."""
    while True:
        a, b = random.sample([1, 2, 3, 4], 2)
        c, d = random.sample([-3, -2, 2, 3, 4, 5], 2)
        x = random.choice([2, 3, 4])
        up, down, line = x * a * c, x * b * d, a * c - b * d
        if line and up not in (line * x, -down):
            break
    wrong = {"activation-left-out": f"[{x * line:.1f}, {-x * line:.1f}]",
             "activation-at-the-end": f"[{max(x * line, 0):.1f}, {max(-x * line, 0):.1f}]"}  # fmt: skip
    values = {"w1": f"[{a:.1f}, {-b:.1f}]", "w2": f"[{c:.1f}, {d:.1f}]", "x": f"{x:.1f}", "minus": f"{-x:.1f}"}
    return {"code": fill(BEND, values), **values, "a": a, "b": b, "c": c, "d": d, "on": x * a, "off": x * b, "up": up,
            "down": down, "line": x * line, "minus_line": -x * line, "answer": f"[{up:.1f}, {down:.1f}]",
            "wrong": wrong}  # fmt: skip


def collapsed(random: Random) -> dict[str, Any]:
    """Without an activation W_2·W_1 is one D × D matrix; with biases, one bias of D more."""
    width = random.choice([6, 8, 10, 12, 16, 20, 24])
    hidden, biases = width * random.choice([3, 4, 5]), random.random() < 0.5
    both = 2 * width * hidden
    wrong = {"two-maps-stay-two": both + (hidden + width if biases else 0), "hidden-width-stays": width * hidden}
    if biases:
        wrong["bias-left-out"] = width**2
    return {"D": width, "d_ff": hidden, "biases": biases, "both": both + (hidden + width if biases else 0),
            "with": "with biases" if biases else "without biases", "square": width**2,
            "bias": f" and {width} biases" if biases else "", "answer": width**2 + (width if biases else 0),
            "wrong": wrong}  # fmt: skip


SLOPE = """\
z = torch.tensor({z}, requires_grad=True)
{function}.sum().backward()
print(z.grad.tolist())"""


def activation_gradient(random: Random) -> dict[str, Any]:
    """The derivative of relu is 0 for all negative inputs, that of a square at 0 only."""
    z = [float(each) for each in random.sample([-4, -3, -2, -1], 2) + random.sample([1, 2, 3, 4], 1)]
    random.shuffle(z)
    square = random.random() < 0.5
    step, double = [float(each > 0) for each in z], [2 * each for each in z]
    if square:
        answer = double
        wrong = {"square-kills-neurons": [max(each, 0.0) for each in double], "slope-is-value": [each**2 for each in z]}
        why = "The slope of z² is 2z. It is 0 at z = 0 only, so no neuron dies of it."
    else:
        answer, wrong = step, {"slope-is-value": [max(each, 0.0) for each in z], "relu-always-passes": [1.0] * 3}
        why = "The slope of relu is 1 where z > 0 and 0 where z < 0. A neuron that is negative for all inputs is dead."
    wrong = {tag: str(value) for tag, value in wrong.items() if value != answer}
    return {"code": fill(SLOPE, {"z": str(z), "function": "(z ** 2)" if square else "torch.relu(z)"}), "square": square,
            "name": "z²" if square else "relu(z)", "why": why, "answer": str(answer), "wrong": wrong}  # fmt: skip


# --- who moves information --------------------------------------------------------------------------------------------

CHANGES = """\
torch.manual_seed({seed})
w1, w2 = torch.randn({F}, {D}) / 3, torch.randn({D}, {F}) / 3

def ffn(x):
    return x + torch.nn.functional.gelu(x @ w1.T) @ w2.T

def attend(x):
    scores = x @ x.T / {D}
{mask}    return x + scores.softmax(dim=-1) @ x

x = torch.randn({T}, {D})  # {T} tokens
y = x.clone()
y[{j}] = torch.randn({D})  # another token {j}
same = torch.isclose({of_x}, {of_y}, atol=1e-6)
print([t for t in range({T}) if not same[t].all()])"""
MASK = '    scores += torch.full(({T}, {T}), float("-inf")).triu(1)\n'
STACKS = {"ffn": "ffn({})", "two ffn": "ffn(ffn({}))", "attend": "attend({})", "attend ffn": "ffn(attend({}))",
          "ffn attend": "attend(ffn({}))"}  # fmt: skip


def who_changes(random: Random) -> dict[str, Any]:
    """Which outputs change with token j: only its own through an FFN, all through attention, j and later if causal."""
    count, width = random.choice([5, 6, 7]), 8
    j = random.randrange(1, count - 2)
    stack, causal = random.choice(list(STACKS)), random.random() < 0.5
    own, every, later, earlier = [j], list(range(count)), list(range(j, count)), list(range(j + 1))
    if "attend" not in stack:
        answer, wrong = own, {"ffn-mixes-tokens": later if causal else every}
        why = "A feed-forward network works on each position by itself, so no other position notices"
    elif causal:
        answer, wrong = later, {"mask-left-out": every, "mask-turned-round": earlier, "attention-stays-in-place": own}
        why = f"With this mask a position reads itself and what is before it, so {j} and all later ones read token {j}"
    else:
        answer, wrong = every, {"attention-stays-in-place": own, "mask-imagined": later}
        why = f"There is no mask, so every position reads token {j}"
    values = {"seed": random.randrange(100), "T": count, "D": width, "F": 16, "j": j,
              "of_x": STACKS[stack].format("x"), "of_y": STACKS[stack].format("y")}  # fmt: skip
    code = fill(CHANGES, {**values, "mask": fill(MASK, values) if causal else ""})
    return {"code": code, **values, "stack": values["of_x"], "causal": causal, "why": why, "answer": str(answer),
            "wrong": {tag: str(value) for tag, value in wrong.items()}}  # fmt: skip


def copy_loss(random: Random) -> dict[str, Any]:
    """Who sees only their own token knows nothing of the one before: all V are equally likely, ln V nats."""
    vocabulary = random.choice([5, 6, 8, 10, 12, 16, 20, 24, 26, 30, 32, 40, 48, 50, 60, 64, 80, 100])
    wrong = {"ffn-mixes-tokens": 0, "bits-for-nats": log2(vocabulary), "error-for-loss": 1 - 1 / vocabulary}
    return {"V": vocabulary, "bits": log2(vocabulary), "answer": log(vocabulary), "wrong": wrong}


LOCAL = [
    "whether its own token is an even number",
    "the square of its own token",
    "to which of three fixed groups its own token belongs",
    "its own position",
    "its own token plus its own position",
]
REMOTE = [
    "the token before it (0 for the first)",
    "the largest token of the text",
    "how often its own token occurs in the text",
    "whether its own token stood earlier in the text",
    "the sum of all tokens up to its own",
    "what followed its own token when it stood there before",
]


def local_tasks(random: Random) -> dict[str, Any]:
    """What can be computed at a position from its own token and position alone."""
    count = random.choice([1, 2, 3])
    options = [{"text": text, "right": True, "tag": "ffn-is-helpless"} for text in random.sample(LOCAL, count)]
    options += [{"text": text, "right": False, "tag": "ffn-mixes-tokens"} for text in random.sample(REMOTE, 5 - count)]
    return {"options": options}


INDUCTION = """\
tokens = torch.tensor({tokens})
x = torch.nn.functional.one_hot(tokens, 10).float()

head1 = torch.diag(torch.ones({last}), -1)  # reads the token before
before = head1 @ x
scores = 50 * x[-1] @ before.T  # head 2, last position
weights = scores.softmax(dim=-1)
print((weights @ x).argmax().item())"""


def induction(random: Random) -> dict[str, Any]:
    """Two attention heads and nothing else: what followed the last token the time before."""
    count = random.choice([6, 7, 8])
    tokens = random.sample(range(10), count - 1)
    place = random.randrange(1, count - 3)
    tokens.append(tokens[place])
    answer = tokens[place + 1]
    wrong = {"copies-itself": tokens[place], "induction-looks-back": tokens[place - 1],
             "copies-the-token-before": tokens[-2]}  # fmt: skip
    return {"code": fill(INDUCTION, {"tokens": str(tokens), "last": count - 1}), "current": tokens[place],
            "place": place, "next": place + 1, "previous": tokens[-2], "answer": str(answer),
            "wrong": {tag: str(value) for tag, value in wrong.items()}}  # fmt: skip


# --- shares and limits ------------------------------------------------------------------------------------------------


def share(random: Random) -> dict[str, Any]:
    """2·D·d_ff of 4·D² + 2·D·d_ff matrix entries are the network's."""
    width, times = random.choice([48, 64, 96, 128, 256, 384, 512]), random.choice([1, 3, 4, 6, 8])
    hidden = width * times
    attention, network = 4 * width**2, 2 * width * hidden
    wrong = {
        "share-of-attention": attention / (attention + network),
        "one-matrix-of-two": times / (4 + times),
        "share-without-w-o": 2 * times / (3 + 2 * times),
        "percent-for-fraction": 100 * network / (attention + network),
    }
    return {"D": width, "d_ff": hidden, "times": times, "attention": attention, "network": network,
            "percent": 100 * network / (attention + network), "answer": network / (attention + network),
            "wrong": wrong}  # fmt: skip


def alike(random: Random) -> dict[str, Any]:
    """Each token keeps 1 − (n − 1)·b of itself and takes b of each other: differences shrink to 1 − n·b a layer."""
    n, share_of_others = random.choice([(3, 0.1), (3, 0.2), (3, 0.3), (4, 0.1), (4, 0.2), (5, 0.1), (5, 0.15)])
    layers, gap = random.choice([2, 3]), random.choice([10, 20, 40, 100])
    own, shrinks = 1 - (n - 1) * share_of_others, 1 - n * share_of_others
    answer = gap * shrinks**layers
    wrong = {
        "attention-keeps-differences": gap,
        "own-weight-kept": gap * own**layers,
        "one-layer-averages-all": 0,
        "residual-imagined": gap * (1 + shrinks) ** layers,
    }
    return {"n": n, "b": share_of_others, "own": round(own, 3), "shrinks": round(shrinks, 3), "L": layers, "gap": gap,
            "low": 5, "high": 5 + gap, "answer": round(answer, 9), "wrong": wrong}  # fmt: skip
