"""Numbers, tensors and code for the questions on writing attention."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random
from typing import Any

from grader.api.questions import distinct_sizes

Values = dict[str, Any]


# --- shapes -----------------------------------------------------------------------------------------------------------


def shapes(random: Random) -> Values:
    """The shapes of scores, weights and output, for no, one or two leading axes."""
    sizes = distinct_sizes(random, 6, (2, 3, 4, 5, 6, 7, 8, 9, 10, 11))
    T, S, d_k, d_v = sizes[:4]  # noqa: N806 - the lesson's letters
    leading = sizes[4 : 4 + random.choice([0, 1, 2, 2])]
    scores, out = [*leading, T, S], [*leading, T, d_v]
    wrong = [
        {"tag": "attention-table-turned", "blank": 1, "shape": [*leading, S, T]},
        {"tag": "attention-table-of-features", "blank": 1, "shape": [*leading, d_k, d_k]},
        {"tag": "attention-softmax-removes-axis", "blank": 2, "shape": [*leading, T]},
        {"tag": "attention-output-width", "blank": 3, "shape": [*leading, T, d_k]},
        {"tag": "attention-output-length", "blank": 3, "shape": [*leading, S, d_v]},
    ]
    return {"T": T, "S": S, "d_k": d_k, "d_v": d_v, "q": (*leading, T, d_k), "k": (*leading, S, d_k),
            "v": (*leading, S, d_v), "scores": scores, "out": out, "answer": [scores, scores, out],
            "wrong": wrong}  # fmt: skip


def scale(random: Random) -> Values:
    """The number by which scores are divided, to be read off the shapes."""
    while True:
        d_k = random.choice([4, 9, 16, 25, 36, 49, 64, 100, 144])
        heads, batch = distinct_sizes(random, 2, (2, 3, 5, 6, 7, 8, 10))
        T, S = distinct_sizes(random, 2, (9, 16, 20, 25, 36, 49, 50, 64))  # noqa: N806 - the lesson's letters
        root = math.isqrt(d_k)
        wrong = {
            "attention-scale-no-root": d_k,
            "attention-scale-model-width": round(math.sqrt(heads * d_k), 4),
            "attention-scale-wrong-axis": math.sqrt(T),
        }
        sizes = {d_k, heads, batch, T, S}
        answers = sorted([root, *wrong.values()])
        if len(sizes) == 5 and all(high > 1.02 * low for low, high in pairwise(answers)):
            break
    return {"d_k": d_k, "heads": heads, "d_model": heads * d_k, "T": T, "q": (batch, heads, T, d_k),
            "k": (batch, heads, S, d_k), "v": (batch, heads, S, d_k), "answer": root, "wrong": wrong,
            "rtol": 1e-3}  # fmt: skip


# --- the transpose ----------------------------------------------------------------------------------------------------


def transpose_or_view(random: Random) -> Values:
    """One row of a transposed matrix, or of a view that has the transpose's shape."""
    rows, columns = random.choice([(2, 3), (3, 2), (2, 4)])
    entries = random.sample(range(1, 10), rows * columns)
    k = [entries[place : place + columns] for place in range(0, len(entries), columns)]
    turned = [list(line) for line in zip(*k, strict=True)]
    viewed = [entries[place : place + rows] for place in range(0, len(entries), rows)]
    transposes = random.random() < 0.5
    transpose, view = random.choice(["T", "transpose(0, 1)", "mT"]), random.choice(["view", "reshape"])
    call, other = (transpose, f"{view}({columns}, {rows})")[:: 1 if transposes else -1]
    whole, otherwise = (turned, viewed)[:: 1 if transposes else -1]
    row = random.choice([place for place in range(columns) if turned[place] != viewed[place]])
    wrong = {"attention-view-as-transpose": str(otherwise[row])}
    if row and str(whole[row - 1]) not in wrong.values():
        wrong["attention-wrong-row"] = str(whole[row - 1])
    code = f"k = torch.tensor({k})\nprint(k.{call}[{row}].tolist())"
    return {"code": code, "call": f"k.{call}", "other": other, "row": row, "whole": str(whole),
            "answer": str(whole[row]), "wrong": wrong}  # fmt: skip


# --- masks ------------------------------------------------------------------------------------------------------------


def blocked_key(random: Random) -> Values:
    """One weight after another key was blocked: what remains of the 1 is shared in the old ratios."""
    while True:
        cuts = sorted(random.sample(range(1, 20), random.choice([2, 3])))
        parts = [high - low for low, high in zip([0, *cuts], [*cuts, 20], strict=True)]
        asked, blocked = random.sample(range(len(parts)), 2)
        old, gone = parts[asked] / 20, parts[blocked] / 20
        answer, shared = old / (1 - gone), old + gone / (len(parts) - 1)
        if 0.1 <= gone <= 0.7 and min(abs(answer - shared), abs(answer - old)) > 0.02:
            break
    weights = [part / 20 for part in parts]
    return {"weights": ", ".join(f"{each:.2f}" for each in weights), "listed": str(weights), "asked": asked,
            "blocked": blocked, "old": old, "gone": gone, "left": round(1 - gone, 2), "answer": answer, "rtol": 0.002,
            "atol": 0.0006,
            "wrong": {"attention-weight-lost": old, "attention-weight-shared-evenly": shared}}  # fmt: skip


def mask_shapes(random: Random) -> Values:
    """Shapes that broadcast to (B, H, T, S), and shapes that do not."""
    B, H, T, S = distinct_sizes(random, 4, (2, 3, 4, 5, 6, 7, 8, 9))  # noqa: N806 - the lesson's letters
    fits = [((T, S), "full-only"), ((B, 1, 1, S), "full-only"), ((B, 1, T, S), "full-only"), ((S,), "full-only"),
            ((H, 1, 1), ""), ((1, S), "full-only")]  # fmt: skip
    fails = [((B, S), "aligned-left"), ((B, T, S), "aligned-left"), ((B, 1, S), "aligned-left"),
             ((B, 1, 1, T), "turned"), ((S, T), "turned"), ((B, 1, S, T), "turned"), ((T,), "turned"),
             ((B, H), "aligned-left")]  # fmt: skip
    count = random.choice([1, 2, 2, 3, 3, 4])
    drawn = [(each, True) for each in random.sample(fits, count)]
    drawn += [(each, False) for each in random.sample(fails, 5 - count)]
    options = [
        {"text": _shape(shape), "right": right, "tag": tag and f"attention-mask-{tag}"} for (shape, tag), right in drawn
    ]
    listed = ",\n              ".join(option["text"] for option in options)
    return {"B": B, "T": T, "S": S, "scores": (B, H, T, S), "options": options, "listed": listed}


def _shape(sizes: tuple[int, ...]) -> str:
    return str(tuple(sizes))


# --- mistakes ---------------------------------------------------------------------------------------------------------

MISTAKES = {
    "attention-over-queries": "The softmax runs over the queries.",
    "attention-mask-late": "The mask sets weights to 0, after the softmax.",
    "attention-scale-late": "The weights are scaled, not the scores.",
    "attention-score-zero": "The blocked score is set to 0, not to −∞.",
    "attention-mask-inverted": "The mask is read the wrong way round.",
}


def read_the_weights(random: Random) -> Values:
    """A table of weights made with one mistake, and which mistake that is."""
    while True:
        made_by, d_k = random.choice([*MISTAKES, *list(MISTAKES)[:-1]]), random.choice([4, 16, 25])
        scores = [[random.randrange(-15, 16) / 10 for _ in range(3)] for _ in range(3)]
        tables = {mistake: _weights(scores, mistake, math.sqrt(d_k)) for mistake in MISTAKES}
        table = tables[made_by]
        rows, columns = [sum(line) for line in table], [sum(line) for line in zip(*table, strict=True)]
        if _telling(made_by, table, rows, columns):
            break
    wrong = [{"tag": tag, "text": text} for tag, text in MISTAKES.items() if tag != made_by]
    return {"d_k": d_k, "root": math.isqrt(d_k), "scores": scores, "right": MISTAKES[made_by], "wrong": wrong,
            "code": "\n".join("  ".join(_two(weight) for weight in line) for line in table),
            "rows": _listed(rows), "columns": _listed(columns),
            "why": _why_weights(made_by, table, math.isqrt(d_k))}  # fmt: skip


def _weights(scores: list[list[float]], mistake: str, root: float) -> list[list[float]]:
    """What the mistake makes of the scores, which are scaled already where that is done at the right place."""
    hidden = {(0, 2)}
    if mistake == "attention-mask-inverted":
        hidden = {(i, j) for i in range(3) for j in range(3)} - hidden
    fill = 0.0 if mistake == "attention-score-zero" else -math.inf
    filled = [[fill if (i, j) in hidden else scores[i][j] for j in range(3)] for i in range(3)]
    if mistake == "attention-over-queries":
        columns = [_softmax([line[j] for line in filled]) for j in range(3)]
        return [list(line) for line in zip(*columns, strict=True)]
    if mistake == "attention-mask-late":
        weights = [_softmax(line) for line in scores]
        return [[0.0 if (i, j) in hidden else weights[i][j] for j in range(3)] for i in range(3)]
    by = root if mistake == "attention-scale-late" else 1.0
    return [[weight / by for weight in _softmax(line)] for line in filled]


def _softmax(scores: list[float]) -> list[float]:
    if max(scores) == -math.inf:
        return [math.nan] * len(scores)
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


def _telling(mistake: str, table: list[list[float]], rows: list[float], columns: list[float]) -> bool:
    """Whether the table shows its mistake clearly, in two decimals."""
    if mistake == "attention-mask-inverted":
        return True
    off = [abs(total - 1) > 0.15 for total in (rows if mistake == "attention-over-queries" else columns)]
    if mistake == "attention-mask-late":
        return rows[0] < 0.8 and sum(off) >= 2
    return sum(off) >= 2 and (mistake != "attention-score-zero" or table[0][2] > 0.15)


def _two(weight: float) -> str:
    return " nan" if math.isnan(weight) else f"{weight:.2f}"


def _listed(totals: list[float]) -> str:
    first, second, third = (_two(total).strip() for total in totals)
    return f"{first}, {second} and {third}"


def _why_weights(mistake: str, table: list[list[float]], root: int) -> str:
    first = _two(sum(table[0]))
    return {
        "attention-over-queries": "Every column sums to 1, and the rows do not. Each query, a row, must share out a "
        "total of 1 among the keys: the softmax runs along the last axis.",
        "attention-mask-late": f"Rows 1 and 2 sum to 1. Row 0, in which a key is blocked, sums to {first}: its weights "
        "were made with the blocked key in the sum, and that key's weight was then struck out.",
        "attention-scale-late": f"Every row sums to 1/{root}, and √d_k is {root}. Softmax made rows that sum to 1, and "
        "the weights were divided after it. It is the scores that are divided, before the softmax.",
        "attention-score-zero": f"The rows sum to 1, but query 0 gives blocked key 2 the weight {_two(table[0][2])}. "
        "A score of 0 is a score like others: exp(0) = 1. Only exp(−∞) is 0.",
        "attention-mask-inverted": "Query 0 attends to the blocked key and nothing else. Queries 1 and 2 have no key "
        "left at all, and softmax of nothing but −∞ is nan.",
    }[mistake]


ONE_QUERY = """\
def attend(query, keys, values, allowed):
    width = len(query)
    scores = []
    for key, may in zip(keys, allowed):
        dot = sum(a * b for a, b in zip(query, key))
        scores.append(dot / math.sqrt(width) if may else -math.inf)
    powers = [math.exp(score - max(scores)) for score in scores]
    weights = [power / sum(powers) for power in powers]
    columns = zip(*values)
    return [sum(w * x for w, x in zip(weights, c)) for c in columns]"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (2, "width = len(keys)", 6, "one more key, although blocked, changes the answer",
     "The scores are divided by the root of the number of keys, so every key counts, allowed or not. The width is the "
     "number of components of the query."),
    (2, "width = len(values[0])", 6, "longer values make the weights more even",
     "The scores are divided by the root of the values' width. What q·k adds up are the components of query and key."),
    (5, "dot = sum(a * b for a, b in zip(key, key))", 8, "every query gets the same answer",
     "Each key is multiplied with itself, so the query plays no part. A score compares the query with a key."),
    (5, "dot = sum(a + b for a, b in zip(query, key))", 8,
     "a query and its negative get the same answer",
     "The sum over a + b is that of the query plus that of the key. The first shifts all scores alike, and softmax "
     "does not notice it. A dot product adds up products."),
    (6, "scores.append(dot / width if may else -math.inf)", 8,
     "the wider the vectors (random, with variance 1), the more even the weights",
     "Divided by the width, random scores have the standard deviation 1/√width. Divided by its root they have 1."),
    (6, "scores.append(dot * math.sqrt(width) if may else -math.inf)", 8,
     "the wider the vectors (random, with variance 1), the more one key gets it all",
     "Multiplied by the root of the width, random scores spread over ±width. Divided by it, they have the standard "
     "deviation 1."),
    (6, "scores.append(dot / math.sqrt(width) if may else 0.0)", 8, "the value of a blocked key still counts",
     "exp(0) is 1, so a score of 0 is far from blocked. Only a score of −∞ gives the weight 0."),
    (6, "scores.append(-math.inf if may else dot / math.sqrt(width))", 4, "only the values of blocked keys count",
     "The allowed keys get the score −∞, and the blocked ones their dot product."),
    (7, "powers = [score - max(scores) for score in scores]", 8,
     "the weight of the best key is 0, if no key is blocked",
     "Without exp the shifted scores themselves are shared out: 0 for the best key. Softmax needs their exponentials."),
    (8, "weights = [power / max(powers) for power in powers]", 7,
     "if all keys are equal and allowed, the answer is the sum of the values",
     "Divided by the largest power every one of these weights is 1. To sum to 1 they must be divided by the sum."),
    (9, "columns = zip(*keys)", 10, "other values make no difference to the answer",
     "The keys are averaged. Keys decide how much each token counts; what is averaged are the values."),
)  # fmt: skip


def one_query_in_python(random: Random) -> Values:
    """Attention for one query with one line spoilt, and what is seen of it."""
    line, spoilt, blamed, symptom, why = random.choice(SPOILT)
    lines = ONE_QUERY.split("\n")
    fix, indent = lines[line - 1].strip(), len(lines[line - 1]) - len(lines[line - 1].lstrip())
    lines[line - 1] = " " * indent + spoilt
    return {"code": "\n".join(lines), "answer": line, "fix": fix, "symptom": symptom, "why": why,
            "wrong": {"attention-blames-the-symptom": blamed}}  # fmt: skip
