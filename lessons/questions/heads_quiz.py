"""Numbers for the questions on multi-head attention."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import distinct_sizes, heads_and_width

WIDTHS = (24, 36, 48, 60, 64, 72, 80, 96)

# --- what it costs ----------------------------------------------------------------------------------------------------


def parameters(random: Random) -> dict[str, Any]:
    """Four projections D × D, with or without biases, whatever the number of heads."""
    h, d, d_head = heads_and_width(random, WIDTHS)
    biases = random.random() < 0.5
    square = d * d
    answer = 4 * square + 4 * d * biases
    wrong = {
        "full-width-heads": 4 * h * square + (3 * h + 1) * d * biases,
        "output-projection-forgotten": 3 * square + 3 * d * biases,
        "head-gets-slice": 3 * h * d_head**2 + square + 4 * d * biases,
    }
    wrong["biases-forgotten" if biases else "biases-assumed"] = 4 * square + 4 * d * (not biases)
    return {
        "h": h, "d": d, "d_head": d_head, "biases": biases, "with": "with" if biases else "without", "four": 4 * square,
        "plus": f", and 4 × {d} biases, {answer:,} in all" if biases else "", "answer": answer, "wrong": wrong,
    }  # fmt: skip


def full_width(random: Random) -> dict[str, Any]:
    """How many times as much heads of full width cost: H times."""
    h, d_head = random.choice([3, 5, 6, 8, 12]), random.choice([16, 24, 32, 64])
    wrong = {"full-width-exponential": 2**h, "full-width-squared": h * h, "heads-are-free": 1}
    return {"h": h, "d": h * d_head, "d_head": d_head, "answer": h, "wrong": wrong}


SHARING = {  # sets of keys and values -> what is asked
    "H": "each query head has keys and values of its own",
    "1": "all query heads share one set of keys and values (multi-query attention)",
    "g": "the query heads share g sets of keys and values (grouped-query attention)",
}


def cost_formula(random: Random) -> dict[str, Any]:
    """The parameters of attention with H query heads and as many sets of keys and values as are said."""
    sets, biases = random.choice(sorted(SHARING)), random.random() < 0.5
    times = "" if sets == "1" else f"*{sets}"
    queries, shared, unshared, back, square = "D*H*w", f"2*D{times}*w", "2*D*H*w", "H*w*D", "D*D"
    if biases:
        queries, shared, unshared = f"{queries} + H*w", f"{shared} + 2{times}*w", f"{unshared} + 2*H*w"
        back, square = f"{back} + D", f"{square} + D"
    wrong = {"output-projection-forgotten": f"{queries} + {shared}",
             "output-projection-square": f"{queries} + {shared} + {square}"}  # fmt: skip
    if sets == "H":
        wrong["heads-fill-the-width"] = f"4*({square})"
    else:
        wrong["sharing-overlooked"] = f"{queries} + {unshared} + {back}"
    return {
        "answer": f"{queries} + {shared} + {back}", "wrong": wrong, "sets": sets, "who": SHARING[sets],
        "symbols": {"D": [2, 9], "H": [2, 9], "w": [2, 9]} | ({"g": [2, 9]} if sets == "g" else {}),
        "biases": biases, "with": "with" if biases else "without", "queries": queries, "shared": shared, "back": back,
        "number": {"1": "there is one set", "g": "there are g sets", "H": "there are H sets"}[sets],
    }  # fmt: skip


def divisors(random: Random) -> dict[str, Any]:
    """Numbers of heads, three that divide the width and two that do not."""
    d = random.choice([36, 48, 60, 72, 80, 100, 120])
    dividing = [h for h in range(2, 25) if d % h == 0]
    odd = random.choice([h for h in dividing if h & (h - 1)])  # no power of two, which some think is needed
    right = [odd, *random.sample([h for h in dividing if h != odd], 2)]
    wrong = random.sample([h for h in range(3, 25) if d % h], 2)
    options = [{"text": f"H = {h}", "right": True, "tag": "heads-power-of-two" if h & (h - 1) else ""} for h in right]
    options += [{"text": f"H = {h}", "right": False, "tag": "heads-need-no-divisor"} for h in wrong]
    return {"d": d, "options": options, "whole": ["heads-power-of-two"], "first": wrong[0], "second": wrong[1],
            "right": ", ".join(f"{d}/{h} = {d // h}" for h in sorted(right))}  # fmt: skip


# --- what a head sees -------------------------------------------------------------------------------------------------


def which_heads(random: Random) -> dict[str, Any]:
    """A feature of a token is changed, and the queries of all heads notice; or a row of W_Q, and one head notices."""
    while True:
        h, d, d_head = heads_and_width(random, WIDTHS)
        place = random.randrange(d)
        owner, strided = place // d_head, place % h
        if owner != strided:
            break
    of_token = random.random() < 0.5
    begin, end = owner * d_head, (owner + 1) * d_head - 1
    everywhere, only = "In both heads." if h == 2 else f"In all {h} heads.", f"In head {owner} only."
    wrong = [{"tag": "strided-heads", "text": f"In head {strided} only."}]
    if of_token:
        what, whose, right = f"feature {place} of one token's x", "the query of this token", everywhere
        wrong += [
            {"tag": "head-gets-slice", "text": only},
            {"tag": "queries-are-parameters", "text": "In none of them."},
        ]
        why = (f"each is a sum over all {d} features of x, feature {place} among them. So the queries of all heads "
               f"change. What is split into {h} groups is the projection, not x.")  # fmt: skip
    else:
        what, whose, right = f"row {place} of W_Q", "the query of a token", only
        wrong += [{"tag": "projection-not-split", "text": everywhere}]
        why = (f"row {place} makes component {place}, and components {begin} to {end} belong to head {owner}. No other "
               "head uses this row.")  # fmt: skip
    return {
        "h": h, "d": d, "d_head": d_head, "place": place, "owner": owner, "begin": begin, "end": end,
        "of_token": of_token, "what": what, "whose": whose, "why": why, "right": right, "wrong": wrong,
        "changed": f"x[{place}]" if of_token else f"w_q[{place}]",
    }  # fmt: skip


def query_entries(random: Random) -> dict[str, Any]:
    """How many entries of W_Q the queries of one head are made with: d_head rows of D."""
    h, d, d_head = heads_and_width(random, WIDTHS)
    wrong = {"head-gets-slice": d_head * d_head, "full-width-heads": d * d}
    return {"h": h, "d": d, "d_head": d_head, "head": random.randrange(h), "answer": d * d_head, "wrong": wrong}


def split(random: Random) -> dict[str, Any]:
    """What one head gets of one token once the features are numbered through."""
    while True:
        tokens, heads, width = random.choice([3, 4, 5]), random.choice([2, 3]), random.choice([2, 3])
        head, token = random.randrange(heads), random.randrange(1, tokens)
        begin = (token * heads + head) * width
        starts = {"view-for-transpose": (head * tokens + token) * width}
        if token < heads:
            starts["head-and-token-swapped"] = (head * heads + token) * width
        if len({begin, *starts.values()}) == 1 + len(starts):
            break
    wrong = {tag: str(list(range(start, start + width))) for tag, start in starts.items()}
    row = token * heads * width
    wrong["strided-heads"] = str(list(range(row + head, row + heads * width, heads)))
    lines = [f"x = torch.arange({tokens * heads * width}).view(1, {tokens}, {heads * width})   # (B, T, D)",
             f"heads = x.view(1, {tokens}, {heads}, {width}).transpose(1, 2)",
             f"print(heads[0, {head}, {token}].tolist())"]  # fmt: skip
    return {
        "code": "\n".join(lines), "answer": str(list(range(begin, begin + width))), "wrong": wrong, "head": head,
        "token": token, "row": row, "row_end": row + heads * width - 1, "begin": head * width,
        "end": (head + 1) * width - 1,
    }  # fmt: skip


# --- tables and shapes ------------------------------------------------------------------------------------------------


def table_entries(random: Random) -> dict[str, Any]:
    """The weights of a layer: a table for each head of each text."""
    h, d, d_head = heads_and_width(random, WIDTHS)
    b, n = distinct_sizes(random, 2, (5, 7, 10, 11, 20, 30))
    while n == d_head:
        n += 1
    wrong = {"heads-share-weights": b * n * n, "weights-as-wide-as-heads": b * h * n * d_head}
    return {"h": h, "d": d, "d_head": d_head, "b": b, "n": n, "square": n * n, "tables": b * h, "answer": b * h * n * n,
            "wrong": wrong}  # fmt: skip


def rank(random: Random) -> dict[str, Any]:
    """The highest rank of a head's T × T table of scores: the least of T and d_head."""
    h, d, d_head = heads_and_width(random, WIDTHS)
    if random.random() < 0.3:
        n = random.randrange(2, d_head)
        wrong = {"rank-of-the-head": d_head, "rank-of-the-width": d}
    else:
        n = random.choice([each for each in (40, 50, 70, 90, 110) if each not in (d, d_head) and each > d_head])
        wrong = {"rank-of-the-table": n, "rank-of-the-width": d}
    return {"h": h, "d": d, "d_head": d_head, "n": n, "answer": min(n, d_head), "wrong": wrong}


def shapes(random: Random) -> dict[str, Any]:
    """The shapes inside multi-head attention."""
    b, t, h, d_head = distinct_sizes(random, 4, (2, 3, 4, 5, 6, 7, 9))
    wrong = [
        {"tag": "heads-not-moved", "blank": 1, "shape": [b, t, h, d_head]},
        {"tag": "heads-not-moved", "blank": 2, "shape": [b, t, h, h]},
        {"tag": "heads-share-weights", "blank": 2, "shape": [b, t, t]},
        {"tag": "scores-over-features", "blank": 2, "shape": [b, h, d_head, d_head]},
        {"tag": "heads-not-moved", "blank": 3, "shape": [b, t, h, d_head]},
        {"tag": "heads-averaged", "blank": 4, "shape": [b, t, d_head]},
    ]
    return {"b": b, "t": t, "h": h, "d_head": d_head, "d": h * d_head, "wrong": wrong,
            "answer": [(b, h, t, d_head), (b, h, t, t), (b, h, t, d_head), (b, t, h * d_head)]}  # fmt: skip


# --- the output projection --------------------------------------------------------------------------------------------


def output_feature(random: Random) -> dict[str, Any]:
    """One feature of the output: a row of W_O times the heads' results, one after the other."""
    feature = random.randrange(4)
    while True:
        heads = [random.sample(range(-2, 6), 2) for _ in range(2)]
        row = [random.randrange(-2, 5) for _ in range(4)]
        joined = heads[0] + heads[1]
        terms = [weight * value for weight, value in zip(row, joined, strict=True)]
        owner, place = divmod(feature, 2)
        wrong = {
            "head-owns-features": sum(terms[2 * owner : 2 * owner + 2]),
            "output-projection-forgotten": joined[feature],
            "heads-averaged": (heads[0][place] + heads[1][place]) / 2,
            "one-weight-a-head": row[0] * heads[0][place] + row[1] * heads[1][place],
        }
        if len({sum(terms), *wrong.values()}) == 5:
            break
    code = f"head_0 = {heads[0]}\nhead_1 = {heads[1]}\nw_o[{feature}] = {row}"
    return {
        "answer": sum(terms), "wrong": wrong, "code": code, "feature": feature, "owner": owner, "place": place,
        "joined": str(joined), "row": str(row), "terms": " + ".join(map(_signed, terms)),
        "part_0": sum(terms[:2]), "part_1": sum(terms[2:]),
    }  # fmt: skip


def _signed(term: int) -> str:
    return f"({term})" if term < 0 else str(term)


LINES = (
    "def multi_head(x, w_q, w_k, w_v, w_o, H):",
    "    B, T, D = x.shape",
    "    d_head = D // H",
    "    q = (x @ w_q.T).view(B, T, H, d_head).transpose(1, 2)",
    "    k = (x @ w_k.T).view(B, T, H, d_head).transpose(1, 2)",
    "    v = (x @ w_v.T).view(B, T, H, d_head).transpose(1, 2)",
    "    weights = (q @ k.transpose(-2, -1) / d_head**0.5).softmax(dim=-1)",
    "    joined = (weights @ v).transpose(1, 2).reshape(B, T, D)",
    "    return joined @ w_o.T",
)
VIEWED = (
    "The shape is right, but view never moves a number: it cuts the tokens in groups where the features should be cut."
)
BUGS = (  # the number of a line, what stands there, why it is wrong
    (4, "q = (x @ w_q.T).view(B, H, T, d_head)", VIEWED),
    (5, "k = (x @ w_k.T).view(B, H, T, d_head)", VIEWED),
    (6, "v = (x @ w_v.T).view(B, H, T, d_head)", VIEWED),
    (4, "q = (x @ w_q.T).view(B, T, d_head, H).permute(0, 3, 1, 2)", "Head 0 would get the features 0, H, 2H, … of the "
     "projection. A head owns neighbours: the axis of the heads is the outer one of the two."),
    (6, "v = (x @ w_k.T).view(B, T, H, d_head).transpose(1, 2)", "These are the keys once more. Values have a "
     "projection of "
     "their own, w_v."),
    (7, "weights = (q @ k.transpose(-2, -1) / D**0.5).softmax(dim=-1)", "Each dot product has d_head terms, the "
     "width of "
     "one head. Divided by √D the scores are too small, and all weights too flat."),
    (7, "weights = (q @ k.transpose(-2, -1) / d_head**0.5).softmax(dim=1)", "Axis 1 is that of the heads, which "
     "would share "
     "out 1 among themselves. Each query of each head shares out 1 among its keys, along the last axis."),
    (8, "joined = (weights @ v).reshape(B, T, D)", "The heads are still in front of the tokens. Without the transpose "
     "parts of different tokens are put together."),
    (9, "return joined", "Side by side the heads' results have not met yet. W_O mixes them, and every head writes to "
     "all features of the stream."),
    (9, "return joined @ w_o", "The weights lie as (out, in), so one multiplies by the transpose. D × D matrices fit "
     "either way; no error shows it."),
)  # fmt: skip
BLAMED = {"head-gets-slice": 4, "scale-by-d-model": 7, "heads-averaged": 8}


def planted_mistake(random: Random) -> dict[str, Any]:
    """Multi-head attention as code, one line of it wrong."""
    line, planted, why = random.choice(BUGS)
    code = "\n".join(f"    {planted}" if number == line else text for number, text in enumerate(LINES, 1))
    wrong = {tag: blamed for tag, blamed in BLAMED.items() if blamed != line}
    return {"code": code, "answer": line, "fix": LINES[line - 1].strip(), "why": why, "wrong": wrong}
