"""Numbers for the questions on positions."""

from __future__ import annotations

import re
from itertools import combinations
from math import cos, pi, sin, sqrt
from random import Random
from typing import Any

from grader.api.questions import distinct_sizes, fill

BASE = 10000


def _angle(p: int, exponent: float) -> float:
    return float(p / BASE**exponent)


def _apart(values: list[float], by: float) -> bool:
    return all(abs(one - other) > by for one, other in combinations(values, 2))


# --- the table --------------------------------------------------------------------------------------------------------


def entry(random: Random) -> dict[str, Any]:
    """Column 2i of row p is sin(p / 10000^(2i/D)), column 2i + 1 its cosine. The divisors are 10 and 100."""
    while True:
        width, power = random.choice([8, 16, 24, 32, 40]), random.choice([1, 2])
        i = power * width // 8
        column = 2 * i + random.randrange(2)
        p = random.randrange(2, 10) if power == 1 else random.randrange(20, 100)
        wave, other = (cos, sin) if column % 2 else (sin, cos)
        wrong = {
            "pe-sine-for-cosine": other(_angle(p, 2 * i / width)),
            "pe-column-for-pair": wave(_angle(p, 2 * column / width)),
            "pe-exponent-halved": wave(_angle(p, i / width)),
            "pe-positions-from-one": wave(_angle(p + 1, 2 * i / width)),
            "pe-multiplied": wave(_angle(p, -2 * i / width)),
        }
        if column % 2:
            wrong["pe-own-frequency"] = wave(_angle(p, column / width))
        answer = wave(_angle(p, 2 * i / width))
        if _apart([answer, *wrong.values()], 0.006):
            return {"D": width, "p": p, "column": column, "i": i, "two_i": 2 * i, "divisor": 10**power,
                    "wave": wave.__name__, "other": other.__name__, "next_p": p + 1, "answer": answer,
                    "wrong": wrong}  # fmt: skip


def wavelength(random: Random) -> dict[str, Any]:
    """Pair i is back at the same angle after 2π · base^(2i/D) positions. The bases are fourth powers."""
    width, power = random.choice([8, 16, 24, 32, 40, 64, 96, 128, 256, 512]), random.choice([1, 2, 3])
    root = random.choice([5, 8, 10, 20])
    column, divisor = width * power // 4, root**power
    wrong = {
        "pe-two-pi-forgotten": divisor,
        "pe-column-for-pair": 2 * pi * divisor**2,
        "pe-exponent-halved": 2 * pi * sqrt(divisor),
        "pe-frequency-for-wavelength": 1 / divisor,
    }
    usual = "" if root**4 == BASE else f" (in place of the usual {BASE})"
    return {"base": root**4, "usual": usual, "D": width, "column": column, "partner": column + 1, "i": column // 2,
            "divisor": divisor, "answer": 2 * pi * divisor, "wrong": wrong}  # fmt: skip


def row_length(random: Random) -> dict[str, Any]:
    """D/2 pairs with sin² + cos² = 1 each: the length is √(D/2)."""
    root = random.choice([3, 4, 5, 6, 7, 8, 9, 10, 12, 16])
    width = 2 * root**2
    wrong = {"pe-length-squared": root**2, "pe-one-for-each-column": sqrt(width), "pe-unit-rows": 1}
    return {"D": width, "pairs": width // 2, "p": random.randrange(3, 900), "answer": root, "wrong": wrong}


def same_dot(random: Random) -> dict[str, Any]:
    """PE(p)·PE(q) depends on |p − q| only."""
    p, k = random.randrange(3, 20), random.randrange(2, 8)
    q, near, far = p + k, random.choice([11, 13, 17]), random.choice([100, 150, 240])
    right = [(p + near, q + near), (p + far, q + far), (0, k), (q + near, p + near)]
    wrong = [("pe-dot-by-ratio", (2 * p, 2 * q)), ("pe-dot-by-place", (p, q + near)),
             ("pe-dot-by-place", (p + far, q)), ("pe-dot-by-sum", (p - 1, q + 1))]  # fmt: skip
    count = random.randrange(2, 4)
    options = [{"text": _dot(*pair), "right": True, "tag": "pe-dot-by-place"} for pair in random.sample(right, count)]
    options += [{"text": _dot(*pair), "right": False, "tag": tag} for tag, pair in random.sample(wrong, 5 - count)]
    return {"p": p, "q": q, "k": k, "options": options}


def _dot(p: int, q: int) -> str:
    return f"PE({p})·PE({q})"


TABLES = [
    """\
def table(T, D):
    p = torch.arange(T).float()[:, None]
    two_i = torch.arange(0, D, 2)         # 0, 2, 4, ...
    angle = p / 10000 ** (two_i / D)
    out = torch.zeros(T, D)
    out[:, 0::2] = angle.sin()
    out[:, 1::2] = angle.cos()
    return out""",
    """\
def table(T, D):
    rows = []
    for p in range(T):
        i = torch.arange(D // 2)          # 0, 1, 2, ...
        angle = p / 10000 ** (2 * i / D)
        pairs = torch.stack([angle.sin(), angle.cos()], dim=1)
        rows.append(pairs.flatten())
    return torch.stack(rows)""",
]
# Which table, the line that goes wrong, what stands there then, and what is wrong with it.
SLIPS = [
    (0, 2, "p = torch.arange(1, T + 1).float()[:, None]", "row 0 of the table would belong to position 1"),
    (0, 4, "angle = p / 10000 ** (2 * two_i / D)", "the exponent has the 2 twice, as if the base were 10000²"),
    (0, 4, "angle = p * 10000 ** (two_i / D)", "the higher columns would turn faster, not slower"),
    (0, 4, "angle = p / 10000 ** (two_i // D)", "whole-number division makes every exponent 0"),
    (0, 5, "out = torch.zeros(T, D).long()", "a table of whole numbers cuts the sines down to −1, 0 and 1"),
    (0, 6, "out[:, 0::2] = angle.cos()", "both columns of a pair would hold the cosine"),
    (0, 7, "out[:, 1::2] = angle.sin()", "both columns of a pair would hold the sine"),
    (0, 7, "out[:, 1::2] = (angle / 10000 ** (1 / D)).cos()", "the cosine would have a frequency of its own"),
    (1, 3, "for p in range(1, T + 1):", "row 0 of the table would belong to position 1"),
    (1, 5, "angle = p * 10000 ** (2 * i / D)", "the higher columns would turn faster, not slower"),
    (1, 5, "angle = p / 10000 ** (2 * i // D)", "whole-number division makes every exponent 0"),
    (1, 5, "angle = p / T / 10000 ** (2 * i / D)", "the same position would have another row in a longer text"),
    (1, 6, "pairs = torch.stack([angle.cos(), angle.sin()], dim=1)", "sines and cosines are exchanged"),
    (1, 6, "pairs = torch.stack([angle.sin(), angle.sin()], dim=1)", "both columns of a pair would hold the sine"),
]


def table_bug(random: Random) -> dict[str, Any]:
    """One line of a right table is replaced by one that people write."""
    which, answer, slip, why = random.choice(SLIPS)
    width, shown = random.choice(["D", "dim", "width", "d_model"]), random.choice(["T", "length", "seq_len", "n"])
    lines = TABLES[which].split("\n")
    right = lines[answer - 1]
    lines[answer - 1] = right[: len(right) - len(right.lstrip())] + slip
    blamed = {"pe-positions-from-one": (2, 3)[which], "pe-sine-for-cosine": 6}
    names = {"D": width, "T": shown}
    return {"code": _named("\n".join(lines), names), "fix": _named(right.split("#")[0].strip(), names),
            "why": why, "D": width, "T": shown, "answer": answer,
            "wrong": {tag: line for tag, line in blamed.items() if line != answer}}  # fmt: skip


def _named(code: str, names: dict[str, str]) -> str:
    """The code with other names for D and T."""
    return re.sub(r"\b[DT]\b", lambda match: names[match[0]], code)


SINES = """\
angle = torch.arange({n})[:, None] / 10000 ** (torch.arange(0, {D}, 2) / {D})
places = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)

"""
INPUT = """\
class Input(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = torch.nn.Embedding({V}, {D})
        {places}

print(sum(p.numel() for p in Input().parameters()))"""
LEARNED = "self.places = torch.nn.Embedding({n}, {D})"
FIXED = 'self.register_buffer("places", places)'


def parameters(random: Random) -> dict[str, Any]:
    """A learned table has T · D parameters, a table of sines in a buffer has none."""
    vocabulary, n, width = random.choice([20, 30, 40, 50]), random.choice([11, 12, 15, 25]), random.choice([4, 6, 8])
    learned = random.random() < 0.5
    sizes = {"V": vocabulary, "n": n, "D": width}
    code = fill(INPUT if learned else SINES + INPUT, {**sizes, "places": fill(LEARNED if learned else FIXED, sizes)})
    tokens, places = vocabulary * width, n * width
    answer, other = (tokens + places, tokens) if learned else (tokens, tokens + places)
    kind = f"learned, and adds {n} × {width} = {places}" if learned else "a buffer: saved, never trained, not counted"
    return {"code": code, **sizes, "tokens": tokens, "places": places, "kind": kind,
            "answer": str(answer),
            "wrong": {"learned-table-uncounted" if learned else "pe-is-learned": str(other)}}  # fmt: skip


# --- what attention sees of the order ---------------------------------------------------------------------------------

REORDER = """\
torch.manual_seed({seed})
def attend(x):                        # no positions and no mask
    return (x @ x.T / 16).softmax(dim=-1) @ x

x = torch.randn({n}, 16)
before = attend(x)
after = attend(x[{order}])
print([(before - row).norm(dim=-1).argmin().item() for row in after])"""


def reorder(random: Random) -> dict[str, Any]:
    """Self-attention is permutation equivariant: the outputs follow their tokens."""
    n = random.choice([4, 5])
    while True:
        order = random.sample(range(n), n)
        inverse = [order.index(place) for place in range(n)]
        if len({tuple(order), tuple(inverse), tuple(range(n))}) == 3:
            break
    code = fill(REORDER, {"seed": random.randrange(100), "n": n, "order": str(order)})
    wrong = {"equivariant-as-invariant": str(list(range(n))), "order-undone": str(inverse)}
    return {"code": code, "n": n, "order": str(order), "first": order[0], "answer": str(order), "wrong": wrong}


EXCHANGE = """\
torch.manual_seed({seed})
def attend(x):
    scores = x @ x.T / 16
{mask}    return scores.softmax(dim=-1) @ x

x = torch.randn({n}, 16)      # {n} tokens, no positions
y = x.clone()
y[[{i}, {j}]] = x[[{j}, {i}]]         # exchange tokens {i} and {j}
same = torch.isclose({one}, {two}, atol=1e-6)
print([t for t in range({n}) if not same[t].all()])"""
CAUSAL = '    scores += torch.full(({n}, {n}), float("-inf")).triu(1)\n'


def exchange(random: Random) -> dict[str, Any]:
    """Which outputs change when two tokens change places, with and without a causal mask, in one layer and in two.

    Without a mask each output is a function of its own token and the bag of all tokens, in any number of layers. With
    one, output t is a function of token t and of the bag of tokens 0 to t; a second layer reads outputs that differ.
    """
    n = random.choice([6, 7])
    i = random.randrange(1, n - 4)
    j = i + random.choice([2, 3])
    causal, layers = random.random() < 0.7, random.choice([1, 2])
    two, between, onward = [i, j], list(range(i, j + 1)), list(range(i, n))
    if not causal:
        answer, wrong = two, {"equivariant-as-invariant": [], "order-for-free": list(range(n))}
        why = "Without a mask every output depends on its own token and on the bag of all tokens. The bag is the same."
    elif layers == 1:
        answer, wrong = between, {"mask-gives-no-order": two, "order-for-free": onward, "equivariant-as-invariant": []}
        why = (f"Output t depends on token t and on the bag of tokens 0 to t. From {j} on, the bag is the same again, "
               f"and so is the token, except at {j} itself.")  # fmt: skip
    else:
        answer, wrong = onward, {"mask-gives-no-order": two, "second-layer-forgotten": between}
        why = (f"In the first layer the outputs {i} to {j} change, since the mask gives them another bag. The second "
               f"layer reads them, so everything from {i} on changes.")  # fmt: skip
    layer = "attend(attend({}))" if layers == 2 else "attend({})"
    values = {"seed": random.randrange(100), "n": n, "i": i, "j": j, "one": layer.format("x"), "two": layer.format("y")}
    code = fill(EXCHANGE, {**values, "mask": fill(CAUSAL, values) if causal else ""})
    return {"code": code, **values, "layers": layers, "causal": causal, "why": why, "answer": str(answer),
            "wrong": {tag: str(value) for tag, value in wrong.items()}}  # fmt: skip


NOUNS = ("dog", "man", "cat", "bird", "child", "fox")
VERBS = ("bites", "sees", "hears", "follows")
ADJECTIVES = ("cheap", "good", "long", "clear", "slow", "funny")


def bag(random: Random) -> dict[str, Any]:
    """An encoder without positions tells two sentences apart if their bags of words differ."""
    a, b, c = random.sample(NOUNS, 3)
    one, other = random.sample(ADJECTIVES, 2)
    verb, another = random.sample(VERBS, 2)
    same = [
        (f"{a} {verb} {b}", f"{b} {verb} {a}"),
        (f"only {a} {verb} {c}", f"{a} {verb} only {c}"),
        (f"not {one} but {other}", f"not {other} but {one}"),
        (f"{c} then {b} then {a}", f"{a} then {c} then {b}"),
    ]
    differ = [(f"{a} {verb} {b}", f"{a} {another} {b}"), (f"{one} and {other}", f"{one} and not {other}"),
              (f"{c} {verb} {c} and {b}", f"{c} {verb} {b} and {b}"),
              (f"{b} {verb} {a}", f"{c} {verb} {a}")]  # fmt: skip
    count = random.randrange(1, 4)
    options = [
        {"text": _pair(pair), "right": True, "tag": "bag-forgets-words"} for pair in random.sample(differ, count)
    ]
    options += [
        {"text": _pair(pair), "right": False, "tag": "order-for-free"} for pair in random.sample(same, 4 - count)
    ]
    return {"options": options}


def _pair(pair: tuple[str, str]) -> str:
    return f'"{pair[0]}" and "{pair[1]}"'


BLIND = [
    "self-attention without positions, then the mean over the tokens",
    "self-attention without positions, then each feature's maximum over the tokens",
    "two encoder blocks without positions, then the mean over the tokens",
    "the mean of the token embeddings",
    "one MLP for each token, then the mean over the tokens",
]
SEEING = [
    ("encoding-without-effect", "self-attention after adding sinusoidal positions, then the mean"),
    ("only-tables-give-order", "causal self-attention without positions, then the mean over the tokens"),
    ("only-tables-give-order", "a convolution of width 3 with ReLU, then the mean over the places"),
]
RECURRENT = ["an LSTM without positions, its last hidden state", "a GRU without positions, its last hidden state"]


def order_blind(random: Random) -> dict[str, Any]:
    """Which models give one result for every order of the tokens. A recurrent one is always among them."""
    count = random.randrange(1, 4)
    seeing = [("only-tables-give-order", random.choice(RECURRENT)), *random.sample(SEEING, 4 - count)]
    options = [{"text": text, "right": True, "tag": "order-for-free"} for text in random.sample(BLIND, count)]
    options += [{"text": text, "right": False, "tag": tag} for tag, text in seeing]
    return {"options": options}


def rope_score(random: Random) -> dict[str, Any]:
    """Quarter turns for positions: only m − T counts. m is 2 more than a multiple of 4 and T odd, so that turning the
    query only, turning the other way and not turning at all give other numbers."""
    while True:
        n = random.randrange(1, 60, 2)
        m = random.choice([each for each in range(n + 1, n + 12) if each % 4 == 2])
        a, b, c, d = distinct_sizes(random, 4, (1, 2, 3, 4, 5, 6, 7))
        turns = (m - n) % 4
        turned = (-b, a) if turns == 1 else (b, -a)
        answer, plain = turned[0] * c + turned[1] * d, a * c + b * d
        if answer != 0 and abs(answer) != abs(plain):
            wrong = {"rope-left-out": plain, "rope-query-only": -plain, "rope-direction": -answer}
            return {"q": (a, b), "k": (c, d), "m": m, "n": n, "offset": m - n, "turns": turns, "turned": turned,
                    "answer": answer, "wrong": wrong}  # fmt: skip
