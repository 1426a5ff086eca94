"""Numbers, tensors and code for the questions on writing multi-head attention."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random
from typing import Any

from grader.api.questions import distinct_sizes, dot

Values = dict[str, Any]
Token = list[int]


# --- split and merge --------------------------------------------------------------------------------------------------


def splits(random: Random) -> Values:
    """Four ways to cut the features of numbered tokens, and what each gives to one head."""
    T, H, d = random.choice([(3, 2, 2), (2, 3, 2), (4, 2, 2), (3, 2, 3), (2, 3, 3)])  # noqa: N806 - the lesson's letters
    first, head = random.choice([0, 10, 20, 40]), random.randrange(2)
    D = H * d  # noqa: N806
    tokens = [list(range(first + t * D, first + (t + 1) * D)) for t in range(T)]
    line = [number for token in tokens for number in token]
    begin = head * T * d
    right = str([token[head * d : (head + 1) * d] for token in tokens])
    viewed = str([line[begin + t * d : begin + (t + 1) * d] for t in range(T)])
    strided = str([token[head::H] for token in tokens])
    unmoved = str([tokens[head][h * d : (h + 1) * d] for h in range(H)])
    good, view = f"x.view(1, {T}, {H}, {d}).transpose(1, 2)", f"x.view(1, {H}, {T}, {d})"
    stride, still = f"x.view(1, {T}, {d}, {H}).permute(0, 3, 1, 2)", f"x.view(1, {T}, {H}, {d})"
    chunks = f"torch.stack(x.chunk({H}, dim=-1), dim=1)"
    pairs = [(good, right), (view, viewed), (stride, strided), random.choice([(still, unmoved), (chunks, right)])]
    wrong = [(view, right, "view-for-transpose"), (good, viewed, "view-for-transpose"),
             (stride, right, "strided-heads"), (good, strided, "strided-heads")]  # fmt: skip
    if pairs[-1][0] == still:
        wrong += [(still, right, "heads-not-moved"), (good, unmoved, "heads-not-moved")]
    else:
        wrong += [(chunks, viewed, "view-for-transpose"), (chunks, strided, "strided-heads")]
    return {"T": T, "H": H, "d": d, "D": D, "head": head, "first": first, "end": first + T * D, "right": right,
            "from": head * d, "to": (head + 1) * d - 1,
            "code": f"x = torch.arange({first}, {first + T * D}).view(1, {T}, {D})   # (B, T, D)",
            "codes": ", ".join(code for code, _ in pairs),
            "pairs": [{"left": code, "right": result} for code, result in pairs],
            "wrong": [{"left": code, "right": result, "tag": tag} for code, result, tag in wrong]}  # fmt: skip


def merge(random: Random) -> Values:
    """One row of what a merge gives, with and without the transpose, or with the features interleaved."""
    T, H, d = random.choice([(3, 2, 2), (2, 3, 2), (3, 2, 3), (2, 2, 3)])  # noqa: N806 - the lesson's letters
    numbers = random.sample(range(1, 40), H * T * d)
    heads = [[numbers[(h * T + t) * d : (h * T + t + 1) * d] for t in range(T)] for h in range(H)]
    token, D = random.randrange(T), H * d  # noqa: N806
    rows = {
        "joined": [number for head in heads for number in head[token]],
        "glued": numbers[token * D : (token + 1) * D],
        "interleaved": [head[token][i] for i in range(d) for head in heads],
    }
    way, call = random.choice([
        ("joined", f"heads.transpose(1, 2).reshape(1, {T}, {D})"), ("joined", "heads.transpose(1, 2).flatten(2)"),
        ("joined", "torch.cat(heads.unbind(1), dim=-1)"), ("glued", f"heads.reshape(1, {T}, {D})"),
        ("glued", f"heads.view(1, {T}, {D})"), ("interleaved", f"heads.permute(0, 2, 3, 1).reshape(1, {T}, {D})"),
    ])  # fmt: skip
    why = {
        "joined": f"That is what token {token} got from head 0, then what it got from the next: the heads side by "
                  "side, as they should be.",
        "glued": f"Nothing moves the numbers, so the line of memory is cut in rows of {D}: head 0 with all its tokens "
                 "comes first. Parts of different tokens are glued together.",
        "interleaved": "The axis of the heads has become the last one, so it runs fastest: feature 0 of each head, "
                       "then feature 1 of each head. Right would be all of head 0, then all of head 1.",
    }[way]  # fmt: skip
    tags = {"joined": "multi-head-merge-repaired", "glued": "view-for-transpose",
            "interleaved": "multi-head-merge-interleaved"}  # fmt: skip
    names = [f"head_{h}" for h in range(H)]
    code = [f"{name} = {head}" for name, head in zip(names, heads, strict=True)]
    code += [f"heads = torch.tensor([[{', '.join(names)}]])   # (B, H, T, d_head)", f"merged = {call}",
             f"print(merged[0, {token}].tolist())"]  # fmt: skip
    wrong = {tags[other]: str(row) for other, row in rows.items() if other != way and row != rows[way]}
    return {"code": "\n".join(code), "answer": str(rows[way]), "wrong": wrong, "why": why, "token": token}


REFUSED = (
    ("out.transpose(1, 2).view(B, T, H * d_head)", "multi-head-view-refuses"),
    ("q.view(B, H, T * d_head)", "multi-head-view-refuses"),
    ("q.view(B * H, T, d_head)", "multi-head-view-refuses"),
    ("out.transpose(1, 2).view(B * T, H * d_head)", "multi-head-view-refuses"),
    ("out.transpose(2, 3).view(B, H, d_head * T)", "multi-head-view-refuses"),
)
TAKEN = (
    ("out.transpose(1, 2).reshape(B, T, H * d_head)", "multi-head-reshape-copies"),
    ("out.transpose(1, 2).contiguous().view(B, T, H * d_head)", "multi-head-reshape-copies"),
    ("out.transpose(1, 2).flatten(2)", "multi-head-reshape-copies"),
    ("q.reshape(B * H, T, d_head)", "multi-head-reshape-copies"),
    ("out.view(B, T, H * d_head)", "multi-head-error-for-contents"),
    ("x.view(B, H, T, d_head)", "multi-head-error-for-contents"),
    ("x.reshape(B, H * d_head, T)", "multi-head-error-for-contents"),
    ("q.transpose(1, 2).view(B, T, H * d_head)", "multi-head-still-in-order"),
    ("out.view(B * H, T, d_head)", "multi-head-still-in-order"),
    ("out.view(B, H, T * d_head)", "multi-head-still-in-order"),
)


def views(random: Random) -> Values:
    """Lines that view refuses, and lines that run, with the right contents or not."""
    sizes = distinct_sizes(random, 4, (2, 3, 4, 5, 6, 7))
    count = random.choice([1, 2, 2, 3])
    drawn = [(each, True) for each in random.sample(REFUSED, count)]
    drawn += [(each, False) for each in random.sample(TAKEN, 5 - count)]
    options = [{"text": line, "right": right, "tag": tag} for (line, tag), right in drawn]
    listed = ",\n             ".join(f'"{option["text"]}"' for option in options)
    return {"sizes": ", ".join(map(str, sizes)), "options": options, "listed": listed}


# --- shapes -----------------------------------------------------------------------------------------------------------


def trace(random: Random) -> Values:
    """The shapes in one of three other ways to write the same attention."""
    B, T, H, d = distinct_sizes(random, 4, (2, 3, 4, 5, 6, 7, 8))  # noqa: N806 - the lesson's letters
    code, blanks, answer, wrong, why = random.choice([_fused, _einsum, _listed])(B, T, H, d)
    wrong = [{"tag": tag, "blank": blank, "shape": shape} for tag, blank, shape in wrong]
    prove = f"{code}\nprint(*(tuple(t.shape) for t in ({', '.join(blanks)})))"
    return {"B": B, "T": T, "H": H, "d": d, "D": H * d, "code": code, "blanks": blanks, "answer": answer,
            "wrong": wrong, "why": why, "proof": prove}  # fmt: skip


Traced = tuple[str, list[str], list[tuple[int, ...]], list[tuple[str, int, list[int]]], str]


def _fused(B: int, T: int, H: int, d: int) -> Traced:  # noqa: N803 - the lesson's letters
    D = H * d  # noqa: N806
    code = (
        f"B, T, H, d_head = {B}, {T}, {H}, {d}\nx = torch.randn(B, T, H * d_head)\nw = torch.randn(3 * H * "
        f"d_head, H * d_head)\n"
        "qkv = x @ w.T\ncut = qkv.view(B, T, 3, H, d_head)\nmoved = cut.permute(2, 0, 3, 1, 4)\nq, k, v = moved\n"
        "scores = q @ k.transpose(-2, -1)"
    )
    wrong = [
        ("multi-head-fused-width", 1, [B, T, D]),
        ("multi-head-permute-inverted", 2, [B, H, 3, T, d]),
        ("multi-head-unpacking", 3, [3, B, H, T, d]),
        ("heads-not-moved", 3, [B, T, H, d]),
        ("heads-share-weights", 4, [B, T, T]),
        ("scores-over-features", 4, [B, H, d, d]),
    ]
    why = (
        f"One matrix makes queries, keys and values at once, {3 * D} numbers for each token. permute names the old "
        f"axes in their new order, so 3 comes first, then B, H, T, d_head. Unpacking takes the first axis away, "
        f"and q is as "
        f"after the usual split: ({B}, {H}, {T}, {d}). The scores have a number for each pair of the {T} tokens in "
        "each head."
    )
    answer = [(B, T, 3 * D), (3, B, H, T, d), (B, H, T, d), (B, H, T, T)]
    return code, ["qkv", "moved", "q", "scores"], answer, wrong, why


def _einsum(B: int, T: int, H: int, d: int) -> Traced:  # noqa: N803 - the lesson's letters
    D = H * d  # noqa: N806
    code = (
        f"B, T, H, d_head = {B}, {T}, {H}, {d}\nx = torch.randn(B, T, H * d_head)\n"
        "w_q, w_k, w_o = torch.randn(3, H * d_head, H * d_head)\nrows = w_q.view(H, d_head, H * d_head)\n"
        'q = torch.einsum("btm,hdm->bhtd", x, rows)\nk = torch.einsum("btm,hdm->bhtd", x, w_k.view(H, d_head, H '
        "* d_head))\n"
        'scores = torch.einsum("bhqd,bhkd->bhqk", q, k)\nparts = w_o.view(H * d_head, H, d_head)\n'
        'out = torch.einsum("bhtd,mhd->btm", q, parts)'
    )
    wrong = [
        ("head-gets-slice", 1, [H, d, d]),
        ("heads-not-moved", 2, [B, T, H, d]),
        ("scores-over-features", 3, [B, H, d, d]),
        ("heads-share-weights", 3, [B, T, T]),
        ("multi-head-sum-over-heads", 4, [B, H, T, D]),
        ("heads-averaged", 4, [B, T, d]),
    ]
    why = (
        f"The {D} rows of w_q are {H} groups of {d}, each row {D} long. A letter that is missing behind the arrow is "
        f"summed over: m in the projections, features in the scores, heads and features in the last line, where each "
        f"head writes to all {D} features and the parts are added up."
    )
    answer = [(H, d, D), (B, H, T, d), (B, H, T, T), (B, T, D)]
    return code, ["rows", "q", "scores", "out"], answer, wrong, why


def _listed(B: int, T: int, H: int, d: int) -> Traced:  # noqa: N803 - the lesson's letters
    D = H * d  # noqa: N806
    code = (
        f"B, T, H, d_head = {B}, {T}, {H}, {d}\nheads = [torch.randn(B, T, d_head) for _ in range(H)]   # H results\n"
        "stacked = torch.stack(heads, dim=1)\nback = stacked.transpose(1, 2)\nflat = back.flatten(2)\n"
        "joined = torch.cat(heads, dim=-1)"
    )
    wrong = [
        ("multi-head-stack-as-cat", 1, [B, T, D]),
        ("multi-head-stack-in-front", 1, [H, B, T, d]),
        ("heads-not-moved", 2, [B, H, T, d]),
        ("heads-averaged", 3, [B, T, d]),
        ("multi-head-flattens-tokens", 3, [B, T * H, d]),
        ("heads-averaged", 4, [B, T, d]),
        ("multi-head-stack-as-cat", 4, [B, T, H, d]),
    ]
    why = (
        f"stack makes a new axis, here the second one, of the size {H}. transpose(1, 2) exchanges heads and tokens, "
        f"and flatten(2) joins the axes from 2 on: {H} × {d} = {D}. cat makes no new axis; it lengthens the last one "
        f"to {D}. Both ways give the same numbers."
    )
    answer = [(B, H, T, d), (B, T, H, d), (B, T, D), (B, T, D)]
    return code, ["stacked", "back", "flat", "joined"], answer, wrong, why


# --- small numbers ----------------------------------------------------------------------------------------------------


def weight(random: Random) -> Values:
    """The weight of the other token in one head, where all projections are the identity."""
    while True:
        H, d = random.choice([(2, 4), (2, 4), (4, 1)])  # noqa: N806 - the lesson's letters
        D, head = H * d, random.randrange(H)  # noqa: N806
        one, other = ([random.randrange(4 if d == 1 else 3) for _ in range(D)] for _ in range(2))
        own = slice(head * d, (head + 1) * d)
        gap, whole = _gap(one[own], other[own]), _gap(one, other)
        answer = _share(gap / math.sqrt(d))
        wrong = {
            "scale-by-d-model": _share(gap / math.sqrt(D)),
            "multi-head-one-joint-head": _share(whole / math.sqrt(D)),
        }
        if d > 1:
            wrong["multi-head-scale-forgotten"] = _share(gap)
            wrong["strided-heads"] = _share(_gap(one[head::H], other[head::H]) / math.sqrt(d))
        if abs(gap) <= 4 and all(high - low > 0.03 for low, high in pairwise(sorted([answer, *wrong.values()]))):
            break
    itself, cross = dot(one[own], one[own]), dot(one[own], other[own])
    return {"H": H, "d": d, "D": D, "head": head, "one": str(one[own]), "other": str(other[own]), "answer": answer,
            "x": f"[{[float(n) for n in one]}, {[float(n) for n in other]}]", "wrong": wrong, "itself": itself,
            "cross": cross, "root": math.isqrt(d), "from": head * d, "to": (head + 1) * d,
            "code": f"x = torch.tensor([{one},\n                  {other}])"}  # fmt: skip


def _gap(one: Token, other: Token) -> int:
    return dot(one, other) - dot(one, one)


def _share(gap: float) -> float:
    return 1 / (1 + math.exp(-gap))


# --- mistakes ---------------------------------------------------------------------------------------------------------

BLIND = (
    # (what is wrong, which of T, H, d must be above 1 for it to show, why)
    ("split_heads returns x.view(B, H, T, d_head)", "TH",
     "view keeps the numbers in their order, and so does the right split if there is one token only, or one head. With "
     "more of both the sequence is cut where the features should be."),
    ("split_heads returns x.view(B, T, d_head, H).permute(0, 3, 1, 2)", "Hd",
     "Head 0 gets the features 0, H, 2H, … With one head these are all of them. With d_head = 1 each head has "
     "one feature, "
     "and it is the right one."),
    ("merge_heads returns heads.reshape(B, T, H * d_head)", "TH",
     "Without the transpose the numbers stay in their order: head by head. With one head or one token that is the "
     "right order, too."),
    ("merge_heads returns heads.permute(0, 2, 3, 1).reshape(B, T, H * d_head)", "Hd",
     "The features of the heads come interleaved. With one head there is nothing to interleave, and with d_head "
     "= 1 the row "
     "is one number of each head in either case."),
    ("multi_head_attention divides the scores by √D in place of √d_head", "TH",
     "With one head D is d_head. With one token the only weight is 1, whatever its score. In all other cases "
     "the weights "
     "are too even."),
)  # fmt: skip


def blind_tests(random: Random) -> Values:
    """Sizes of a test that show a mistake, and sizes that hide it."""
    what, needs, why = random.choice(BLIND)
    sizes = [tuple(distinct_sizes(random, 3, (2, 3, 4, 5, 6))) for _ in range(2)]
    for axis in "THd":
        drawn = dict(zip("THd", distinct_sizes(random, 3, (2, 3, 4, 5, 6)), strict=True))
        sizes.append(tuple({**drawn, axis: 1}.values()))
    same, width = distinct_sizes(random, 2, (2, 3, 4, 5))
    sizes.append((same, same, width))
    del sizes[random.choice([1, 5])]
    options = []
    for T, H, d in dict.fromkeys(sizes):  # noqa: N806 - the lesson's letters
        shows = all({"T": T, "H": H, "d": d}[axis] > 1 for axis in needs)
        tag = "multi-head-blind-to-it" if shows else "multi-head-test-too-small"
        options.append({"text": f"T = {T}, H = {H}, d_head = {d}", "right": shows, "tag": tag})
    return {"what": what, "why": why, "options": options}


IN_PYTHON = """\
def split(tokens, H):
    d_head = len(tokens[0]) // H
    heads = []
    for h in range(H):
        begin = h * d_head
        heads.append([token[begin:begin + d_head] for token in tokens])
    return heads

def merge(heads):
    tokens = []
    for t in range(len(heads[0])):
        token = []
        for head in heads:
            token.extend(head[t])
        tokens.append(token)
    return tokens"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (2, "d_head = len(tokens) // H", 6, "how wide a head is depends on the number of tokens",
     "len(tokens) is the number of tokens. The width of a head is the number of features of one token, divided by H."),
    (2, "d_head = len(tokens[0])", 6, "head 0 has all features, and the other heads have none",
     "That is the whole width D. A head has D // H features."),
    (4, "for h in range(d_head):", 2, "6 features and H = 2 give three heads, of which the last one is empty",
     "There are H heads, each d_head wide. Here the loop makes d_head of them."),
    (5, "begin = h", 6, "with d_head = 3, heads 0 and 1 have two features in common",
     "Head 1 would begin at feature 1. The heads before it own h groups of d_head features, so it begins at h * "
     "d_head."),
    (5, "begin = h * H", 2, "all is well with H = d_head, and with H = 2 and d_head = 3 feature 5 is lost",
     "Each head before this one owns d_head features, not H. So it begins at h * d_head."),
    (6, "heads.append([token[h::H] for token in tokens])", 5, "head 0 has the features 0, H, 2H and so on",
     "A slice with the step H takes every H-th feature. A head owns neighbours, from begin to begin + d_head."),
    (6, "heads.append([token[begin:begin + H] for token in tokens])", 5, "all is well with H = d_head; else the "
     "heads have "
     "the wrong width", "The group of a head is d_head features wide: it ends before begin + d_head."),
    (11, "for t in range(len(heads)):", 13, "with fewer heads than tokens some tokens are lost",
     "len(heads) is the number of heads. There is a row for each token, len(heads[0]) of them."),
    (12, "token = heads[0][t]", 14, "merge changes the lists that it was given",
     "That is head 0's own list, which then grows, and head 0's features are in it twice. A new row begins empty."),
    (13, "for head in heads[:1]:", 11, "the merged tokens are d_head wide", "Only head 0 is taken. All heads "
     "stand side by "
     "side in the merged token."),
    (14, "token.append(head[t])", 15, "a merged token is a list of lists",
     "append puts the head's list in as one entry. extend puts its features in, one after the other."),
    (15, "tokens.extend(token)", 14, "merge gives one flat list of numbers",
     "extend takes the row apart again. tokens is a list of rows, so the row goes in as one entry."),
)  # fmt: skip


def in_python(random: Random) -> Values:
    """Split and merge of lists with one line spoilt, and what is seen of it."""
    line, spoilt, blamed, symptom, why = random.choice(SPOILT)
    lines = IN_PYTHON.split("\n")
    fix, indent = lines[line - 1].strip(), len(lines[line - 1]) - len(lines[line - 1].lstrip())
    lines[line - 1] = " " * indent + spoilt
    return {"code": "\n".join(lines), "answer": line, "fix": fix, "symptom": symptom, "why": why,
            "wrong": {"multi-head-blames-the-symptom": blamed}}  # fmt: skip
