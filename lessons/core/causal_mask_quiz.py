"""Masks, sizes and code for the questions on writing the causal mask."""

from __future__ import annotations

from itertools import accumulate
from random import Random
from typing import Any

from grader.api.questions import distinct_sizes

Values = dict[str, Any]
Rows = list[list[bool]]


# --- triangles --------------------------------------------------------------------------------------------------------


def _triangle(lower: bool, k: int, n: int) -> Rows:
    """tril(k) or triu(k) of n × n ones: j - i at most k, or at least k."""
    return [[j - i <= k if lower else j - i >= k for j in range(n)] for i in range(n)]


def _call(lower: bool, k: int) -> str:
    return f"{'tril' if lower else 'triu'}({k or ''})"


def _where(lower: bool, k: int) -> str:
    """Which entries a triangle keeps, in words."""
    side = "left" if lower else "right"
    if not k:
        return f"on the main diagonal and to its {side}"
    beside = f"the diagonal {abs(k)} to the {'right' if k > 0 else 'left'} of the main one"
    return f"on {beside}, and to the {side} of that diagonal"


def triangle_row(random: Random) -> Values:
    """A row of tril(k) or triu(k)."""
    while True:
        n, lower, k = random.choice([5, 6, 7]), random.random() < 0.5, random.choice([-2, -1, -1, 0, 0, 1, 1, 2])
        row, step = random.randrange(1, n - 1), -1 if lower else 1
        readings = {
            "": (lower, k),
            "causal-mask-wrong-triangle": (not lower, k),
            "causal-mask-diagonal-forgotten": (lower, 0),
            "causal-mask-diagonal-sign": (lower, -k),
            "causal-mask-edge-left-out": (lower, k + step),
        }
        readings = {tag: reading for tag, reading in readings.items() if reading != (lower, k) or not tag}
        if len(set(readings.values())) < len(readings):  # at k = 1 or -1 the edge left out can be the plain triangle
            del readings["causal-mask-edge-left-out"]
        rows = {tag: [int(each) for each in _triangle(*reading, n)[row]] for tag, reading in readings.items()}
        if any(rows[""]) and len({str(each) for each in rows.values()}) == len(rows):
            break
    answer = rows.pop("")
    return {"row": row, "call": _call(lower, k), "plain": _call(lower, 0), "where": _where(lower, k),
            "columns": _listed("column", [j for j, each in enumerate(answer) if each]), "answer": str(answer),
            "wrong": {tag: str(value) for tag, value in rows.items()},
            "code": f"print(torch.ones({n}, {n}, dtype=torch.int64).{_call(lower, k)}[{row}].tolist())"}  # fmt: skip


def _listed(what: str, numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"{what} {numbers[0]}"
    return f"{what}s {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def window(random: Random) -> Values:
    """How many keys each query sees in a window around it, behind it or ahead of it."""
    n, w = random.choice([5, 6, 7]), random.choice([2, 3])
    strict = random.random() < 0.5
    reach, sign = (w - 1, "<") if strict else (w, "<=")
    comparison, low, high, seen = random.choice([
        (f"(i - j).abs() {sign} {w}", -reach, reach, f"itself and {reach} on either side"),
        (f"(0 < i - j) & (i - j {sign} {w})", -reach, -1, f"the {reach} before it, but not itself"),
        (f"(0 <= j - i) & (j - i {sign} {w})", 0, reach, f"itself and the {reach} after it"),
        (f"(0 < j - i) & (j - i {sign} {w})", 1, reach, f"the {reach} after it, but not itself"),
    ])  # fmt: skip
    further = reach + (1 if strict else -1)  # who reads < as <=, or the reverse
    answer = _keys_seen(n, low, high)
    wrong = {
        "causal-mask-rows-as-columns": _keys_seen(n, -high, -low),
        "causal-mask-off-by-one": _keys_seen(n, *(_moved(edge, reach, further) for edge in (low, high))),
        "causal-mask-no-ends": [high - low + 1] * n,
    }
    code = (
        f"i = torch.arange({n}).unsqueeze(1)\n"
        f"j = torch.arange({n}).unsqueeze(0)\n"
        f"mask = {comparison}\n"
        "print(mask.sum(dim=1).tolist())"
    )
    return {"n": n, "seen": seen.replace("the 1 ", "the one "), "code": code, "answer": str(answer),
            "wrong": {tag: str(value) for tag, value in wrong.items() if value != answer}}  # fmt: skip


def _keys_seen(n: int, low: int, high: int) -> list[int]:
    """For each i, how many of the n keys have low <= j - i <= high."""
    return [sum(low <= j - i <= high for j in range(n)) for i in range(n)]


def _moved(edge: int, reach: int, further: int) -> int:
    return further * (1 if edge > 0 else -1) if abs(edge) == reach else edge


# --- who notices ------------------------------------------------------------------------------------------------------


def who_notices(random: Random) -> Values:
    """Which outputs of one attention change with a token, for a triangle with an edge at or beside the diagonal."""
    n, (lower, k) = random.choice([5, 6]), random.choice([(True, 0), (True, 1), (False, 0), (False, -1)])
    changed = random.randrange(1, n - 1)
    mask = _triangle(lower, k, n)
    seen = [i for i in range(n) if mask[i][changed]]
    options = [{"text": f"output {i}", "right": i in seen, "tag": _tag_of_output(i, changed, k)} for i in range(n)]
    return {"n": n, "changed": changed, "options": options, "seen": str(seen),
            "outputs": _listed("output", seen), "where": _where(lower, k),
            "code": f"mask = torch.ones({n}, {n}, dtype=torch.bool).{_call(lower, k)}"}  # fmt: skip


def _tag_of_output(i: int, changed: int, k: int) -> str:
    if i == changed:
        return "causal-mask-own-output"
    if k and changed - i == k:  # the only entry that this triangle has more than the one at the main diagonal
        return "causal-mask-edge-of-diagonal"
    return "causal-mask-influence-reversed"


# --- two masks --------------------------------------------------------------------------------------------------------


def with_padding(random: Random) -> Values:
    """How many keys each query has under the causal mask and a mask of padding, on the left or on the right."""
    n = random.choice([4, 5, 6, 7])
    padding = random.choice([1, 2, 3][: n - 2])
    left = random.random() < 0.5
    real = [False] * padding + [True] * (n - padding)
    real = real if left else real[::-1]
    answer = list(accumulate(map(int, real)))
    wrong = {
        "causal-mask-padding-as-rows": [count * word for count, word in zip(answer, real, strict=True)],
        "causal-mask-padding-ignored": list(range(1, n + 1)),
        "causal-mask-future-ignored": [n - padding] * n,
    }
    first = "Row 0 has" if padding == 1 else f"Rows 0 {'and' if padding == 2 else 'to'} {padding - 1} have"
    ending = (
        f"{first} no key at all, and softmax gives nan there." if left
        else "Every row has a key, those of the padding included: their outputs are of no use, but they are not nan."
    )  # fmt: skip
    return {"n": n, "words": n - padding, "answer": str(answer), "ending": ending,
            "wrong": {tag: str(value) for tag, value in wrong.items() if value != answer},
            "code": f"real = torch.tensor({real})\nprint((mask & real).sum(dim=1).tolist())"}  # fmt: skip


def combined_shapes(random: Random) -> Values:
    """Padding as a mask of keys, combined with the causal mask, applied to the scores."""
    B, H, T = distinct_sizes(random, 3, (2, 3, 4, 5, 6, 7, 8, 9, 10))  # noqa: N806 - the lesson's letters
    keys, both, scores = [B, 1, 1, T], [B, 1, T, T], [B, H, T, T]
    wrong = [
        {"tag": "causal-mask-new-axes", "blank": 1, "shape": [1, 1, B, T]},
        {"tag": "causal-mask-new-axes", "blank": 1, "shape": [B, T, 1, 1]},
        {"tag": "causal-mask-combined-shape", "blank": 2, "shape": keys},
        {"tag": "causal-mask-combined-shape", "blank": 2, "shape": [T, T]},
        {"tag": "causal-mask-changes-scores-shape", "blank": 3, "shape": both},
    ]
    steps = 'keys = real[:, None, None, :]\nboth = mask & keys\nhidden = scores.masked_fill(~both, float("-inf"))'
    return {"B": B, "H": H, "T": T, "keys": keys, "both": both, "scores": scores, "steps": steps,
            "answer": [keys, both, scores], "wrong": wrong}  # fmt: skip


# --- forms of a mask --------------------------------------------------------------------------------------------------


def forms(random: Random) -> Values:
    """What each use of a mask must be given, from a mask that says what is allowed or one that says what is blocked."""
    name, says_allowed = random.choice([("may", True), ("allowed", True), ("hidden", False), ("blocked", False)])
    allowed, blocked = (name, f"~{name}") if says_allowed else (f"~{name}", name)
    additive = f"torch.zeros(T, T).masked_fill({blocked}, -inf)"
    ones = f"({allowed}).float()" if allowed.startswith("~") else f"{allowed}.float()"
    uses = {
        "a Boolean attn_mask of F.scaled_dot_product_attention": allowed,
        "a Boolean attn_mask of nn.MultiheadAttention": blocked,
        "m in scores.masked_fill(m, -inf)": blocked,
        "m in torch.where(m, scores, -inf)": allowed,
    }
    third = random.choice(["m in scores.masked_fill(m, -inf)", "m in torch.where(m, scores, -inf)"])
    asked = [*list(uses)[:2], third]
    pairs = [{"left": left, "right": uses[left]} for left in asked]
    pairs.append({"left": "m in scores + m", "right": additive})
    wrong = [
        {"left": left, "right": blocked if uses[left] == allowed else allowed, "tag": "causal-mask-polarity"}
        for left in asked
    ]
    wrong.append({"left": "m in scores + m", "right": ones, "tag": "causal-mask-ones-added"})
    return {"name": name, "meaning": "may attend to" if says_allowed else "must not attend to", "blocked": blocked,
            "triangle": "tril()" if says_allowed else "triu(1)", "pairs": pairs, "extra": [ones],
            "wrong": wrong}  # fmt: skip


# --- one wrong line ---------------------------------------------------------------------------------------------------

LEAK_TEST = """\
def leaks(model, x, t):
    changed = x.clone()
    changed[:, t] = torch.randn(x.size(0), x.size(-1))
    before, after = model(x), model(changed)
    same = torch.isclose(before[:, :t], after[:, :t])
    return not bool(same.all())"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (2, "changed = x", 5, "it never finds a leak",
     "changed and x are two names of one tensor, so both runs read the same numbers, and the caller's x is spoilt. The "
     "copy must have memory of its own."),
    (2, "changed = x[:]", 5, "it never finds a leak",
     "x[:] is a view: both runs read the same numbers, and the caller's x is spoilt. The copy must have memory of its "
     "own."),
    (2, "changed = x.detach()", 5, "it never finds a leak",
     "detach() cuts the gradient and not the memory: both runs read the same numbers, and the caller's x is spoilt."),
    (2, "changed = torch.randn_like(x)", 5, "it calls honest models leaky",
     "All tokens are new, those before t as well, and of course the outputs before t change. Only those at t may."),
    (3, "changed[t] = torch.randn(x.size(1), x.size(-1))", 5,
     "it calls honest models leaky, and raises an IndexError if there are not more than t sentences",
     "The first axis of x is the batch, so sentence t is replaced as a whole. The position is the second axis."),
    (3, "changed[:, t].add(1.0)", 4, "it never finds a leak",
     "add makes a new tensor, which is thrown away, and the tokens stay as they were. If nothing changes, no "
     "output can."),
    (3, "changed[:, :t] = torch.randn(x.size(0), t, x.size(-1))", 5,
     "it calls honest models leaky",
     "The tokens before t are replaced, and the outputs before t may well depend on those. The change must come at t."),
    (4, "before, after = model(x), model(x)", 2, "it never finds a leak",
     "The changed tokens are never shown to the model: both runs read x."),
    (5, "same = torch.isclose(before[:, : t + 1], after[:, : t + 1])", 2,
     "it calls honest models leaky",
     "Output t is compared as well, and it may change: a position sees itself. Only the outputs before t may not."),
    (5, "same = torch.isclose(before[:, t:], after[:, t:])", 6, "it calls honest models leaky",
     "The outputs from t on are compared, and these may change. Those before t may not."),
    (5, "same = torch.isclose(before[:, :1], after[:, :1])", 6,
     "it misses models in which each position sees just one place too far, if t is larger than 1",
     "Only output 0 is compared. A small leak shows nowhere but next to t, so all outputs before t must be."),
    (6, "return not bool(same.any())", 5, "it misses every leak that leaves even one number before t as it was",
     "With any() a single number that stayed the same makes the model honest. All of them must stay the same."),
    (6, "return bool(same.all())", 5, "it calls honest models leaky and leaky ones honest",
     "If all outputs before t stay the same, there is no leak: the answer must be negated."),
)  # fmt: skip


def leak_test(random: Random) -> Values:
    """A test for leaks from the future with one line spoilt, and what is seen of it."""
    line, spoilt, blamed, symptom, why = random.choice(SPOILT)
    lines = LEAK_TEST.split("\n")
    fix, indent = lines[line - 1].strip(), len(lines[line - 1]) - len(lines[line - 1].lstrip())
    lines[line - 1] = " " * indent + spoilt
    return {"code": "\n".join(lines), "answer": line, "fix": fix, "symptom": symptom, "why": why,
            "wrong": {"causal-mask-blames-the-symptom": blamed}}  # fmt: skip
