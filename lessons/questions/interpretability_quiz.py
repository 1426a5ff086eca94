"""Numbers for the questions on what can be read off a trained model."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random
from typing import Any

from grader.api.questions import dot

Values = dict[str, Any]


def contribution(random: Random) -> Values:
    """A head's output is the sum of a·v: a large weight on a small value contributes little."""
    while True:
        weights = random.choice([(0.6, 0.25, 0.1, 0.05), (0.5, 0.3, 0.15, 0.05), (0.7, 0.2, 0.06, 0.04)])
        weights = random.sample(weights, 4)
        lengths = [random.choice([0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0]) for _ in range(4)]
        terms = [round(a * length, 4) for a, length in zip(weights, lengths, strict=True)]
        ranked = sorted(terms)
        tops = [max(range(4), key=each.__getitem__) for each in (terms, weights, lengths)]
        if len(set(tops)) == 3 and ranked[3] > 1.3 * ranked[2] and sorted(lengths)[3] > sorted(lengths)[2]:
            break
    most, heaviest, longest = tops
    table = [("token", range(4)), ("weight", weights), ("length of v", lengths)]
    code = "\n".join(f"{name:12}" + "".join(f"{each:>7}" for each in row) for name, row in table)
    wrong = [
        {"text": f"token {heaviest}", "tag": "weight-is-contribution"},
        {"text": f"token {longest}", "tag": "value-without-weight"},
    ]
    return {"weights": weights, "lengths": lengths, "code": code, "most": most, "heaviest": heaviest,
            "longest": longest, "term": terms[most], "of_heaviest": terms[heaviest], "of_longest": terms[longest],
            "right": f"token {most}", "wrong": wrong}  # fmt: skip


def rollout(random: Random) -> Values:
    """Two causal layers, each mixed half and half with the identity, multiplied."""
    while True:
        first, second = random.sample([0.2, 0.3, 0.4, 0.5, 0.6, 0.8], 2)
        answer = 1 - (1 - first / 2) * (1 - second / 2)
        wrong = {
            "rollout-without-residual": 1 - (1 - first) * (1 - second),
            "last-layer-alone": second / 2,
            "layers-averaged": (first + second) / 2,
            "paths-not-added": first / 2 * second / 2,
        }
        values = sorted([answer, *wrong.values()])
        if min(high - low for low, high in pairwise(values)) > 0.012:
            break
    return {"first": first, "second": second, "half_first": first / 2, "half_second": second / 2,
            "kept": round(1 - second / 2, 6), "by_self": round((1 - second / 2) * first / 2, 6),
            "answer": round(answer, 6), "wrong": wrong}  # fmt: skip


SAYS = {
    "backup": "each can do the other's work",
    "apart": "each does work of its own",
    "idle": "neither does much here",
}


def ablations(random: Random) -> Values:
    """What the losses without head A, without head B and without both say of the two."""
    case = random.choice(sorted(SAYS))
    base = random.choice([2.4, 2.7, 3.1])
    small = [random.choice([0.01, 0.02]) for _ in range(2)]
    large = [random.choice([0.2, 0.3, 0.4]), random.choice([0.15, 0.25, 0.35])]
    alone = large if case == "apart" else small
    together = {
        "backup": random.choice([0.5, 0.7, 0.9]), "apart": sum(alone) + random.choice([-0.01, 0, 0.01]),
        "idle": random.choice([0.01, 0.02]),
    }[case]  # fmt: skip
    losses = [base, *(round(base + each, 2) for each in (*alone, together))]
    names = ("whole model", "without A", "without B", "without both")
    code = "\n".join(f"{name:14} {loss:.2f}" for name, loss in zip(names, losses, strict=True))
    tags = {
        "backup": {"apart": "joint-ablation-misread", "idle": "single-ablation-decides"},
        "apart": {"backup": "joint-ablation-misread", "idle": "loss-rise-overlooked"},
        "idle": {"backup": "backup-imagined", "apart": "backup-imagined"},
    }[case]
    rises = [round(loss - base, 2) for loss in losses[1:]]
    why = {
        "backup": f"Without one of them the loss rises by {rises[0]} or {rises[1]}, without both by {rises[2]}, far "
                  "more than the two together: while one is there, it does what the other did.",
        "apart": f"The loss rises by {rises[0]} without A and by {rises[1]} without B. Without both it rises by "
                 f"{rises[2]}, about the sum: the two do different things, and neither stands in.",
        "idle": f"The loss rises by {rises[0]} and {rises[1]}, and by no more than {rises[2]} without both, all of "
                "which may be chance. So neither stands in for the other: on these texts there is little that they do.",
    }[case]  # fmt: skip
    wrong = [{"text": SAYS[name], "tag": tag} for name, tag in tags.items()]
    return {"losses": losses, "code": code, "rises": f"{rises[0]} and {rises[1]} one at a time, {rises[2]} together",
            "why": why, "right": SAYS[case], "wrong": wrong}  # fmt: skip


def probe_gain(random: Random) -> Values:
    """The share of the baseline's mistakes that a probe avoids."""
    while True:
        base, answer = random.choice([0.4, 0.5, 0.6, 0.7, 0.8]), random.choice([0.2, 0.25, 0.3, 0.4, 0.5, 0.6])
        accuracy = round(base + answer * (1 - base), 6)
        wrong = {"probe-without-baseline": accuracy, "points-for-share": accuracy - base,
                 "share-of-the-baseline": accuracy / base - 1}  # fmt: skip
        values = sorted([answer, *wrong.values()])
        if min(high - low for low, high in pairwise(values)) > 0.012:
            break
    return {"base": base, "accuracy": accuracy, "base_percent": round(100 * base), "left": round(1 - base, 6),
            "percent": round(100 * accuracy, 1), "points": round(accuracy - base, 6), "answer": answer,
            "wrong": wrong}  # fmt: skip


def entropy(random: Random) -> Values:
    """The entropy of a row of weights that are powers of a half, in bits."""
    halves = random.choice([(1, 1), (1, 2, 2), (2, 2, 2, 2), (1, 2, 3, 3), (1, 3, 3, 3, 3), (2, 2, 2, 3, 3)])
    zeros = random.choice([1, 2, 3])
    weights = [0.5**half for half in halves] + [0.0] * zeros
    random.shuffle(weights)
    answer = sum(half * 0.5**half for half in halves)
    wrong = {
        "entropy-in-nats": answer * math.log(2),
        "entropy-of-all-keys": math.log2(len(weights)),
        "keys-counted": float(len(halves)),
        "entropy-sign": -answer,
    }
    kept = {tag: value for tag, value in wrong.items() if list(wrong.values()).count(value) == 1 and value != answer}
    terms = " + ".join(f"{half}/{2**half}" for half in halves)
    return {"weights": weights, "shown": ", ".join(f"{each:g}" for each in weights), "terms": terms,
            "count": len(weights), "effective": 2**answer, "answer": answer, "wrong": kept}  # fmt: skip


ROLES = ("the token just before it", "the token just after it", "itself", "token 0")


def head_role(random: Random) -> Values:
    """A table of weights, and where its queries look."""
    n, role = random.choice([5, 6]), random.randrange(4)
    rows = []
    for i in range(n):
        target = (max(i - 1, 0), min(i + 1, n - 1), i, 0)[role]
        rest = random.choice([0.01, 0.02, 0.03, 0.04])
        rows.append([round(1 - rest * (n - 1), 2) if j == target else rest for j in range(n)])
    head = "       " + "".join(f"{'key ' + str(j):>8}" for j in range(n))
    code = "\n".join([head, *(f"query {i}" + "".join(f"{a:8.2f}" for a in row) for i, row in enumerate(rows))])
    swapped = {0: 1, 1: 0}.get(role)
    others = [place for place in range(4) if place != role]
    wrong = [{"text": ROLES[place], "tag": "rows-read-as-columns" if place == swapped else "pattern-misread"}
             for place in others]  # fmt: skip
    if swapped is not None:  # so that the mirrored reading is always among the options
        wrong = [each for each in wrong if each["text"] in (ROLES[swapped], "token 0")]
    return {"n": n, "rows": rows, "code": code, "right": ROLES[role], "wrong": wrong}


def same_output(random: Random) -> Values:
    """Rows of weights that give the same output, since the three values lie on one line."""
    middle, step = random.choice([4, 5, 6, 8]), random.choice([1, 2, 3])
    values = [middle - step, middle, middle + step]
    row = random.choice([(0.2, 0.6, 0.2), (0.1, 0.8, 0.1), (0.2, 0.5, 0.3), (0.3, 0.4, 0.3), (0.4, 0.4, 0.2)])
    options = []
    for shift in random.sample([-0.1, 0.05, 0.1, 0.15], 2):
        options.append(([row[0] + shift, row[1] - 2 * shift, row[2] + shift], True))
    for shift in random.sample([-0.1, -0.05, 0.05, 0.1], 2):
        options.append(([row[0] + shift, row[1] - shift, row[2]], False))
    options.append(([row[0] + 0.1, row[1], row[2] - 0.1], False))
    if random.random() < 0.5:
        options.pop(random.choice([0, 1]))
    shown = [{"text": ", ".join(f"{max(a, 0):.2f}" for a in weights), "right": same,
              "tag": "another-row-another-output" if same else "output-not-computed"}
             for weights, same in options]  # fmt: skip
    output = dot(row, values)
    return {"v1": values[0], "v2": values[1], "v3": values[2], "row": ", ".join(f"{a:.2f}" for a in row),
            "weights": row, "output": round(output, 6), "options": shown}  # fmt: skip


def lens(random: Random) -> dict[str, Any]:
    """The difference of two logits between two blocks."""
    s, u, w = (tuple(random.randint(-4, 5) for _ in range(3)) for _ in range(3))
    first, second = dot(s, u), dot(s, w)
    if len({first - second, first, first + second, 0}) < 4:
        return lens(random)
    return {"s": s, "u": u, "w": w, "list_s": list(s), "list_u": list(u), "list_w": list(w), "first": first,
            "second": second, "answer": first - second,
            "wrong": {"lens-one-logit": first, "lens-adds-logits": first + second}}  # fmt: skip


def neuron(random: Random) -> dict[str, Any]:
    """What one hidden neuron adds to a logit: relu(k·x) times v·u."""
    k, v, x, u = (tuple(random.randint(-3, 4) for _ in range(3)) for _ in range(4))
    on, along, read = dot(k, x), dot(v, u), dot(k, u)
    if on < 2 or len({on * along, on, along, on * read, 0}) < 5:
        return neuron(random)
    wrong = {"neuron-activation-alone": on, "neuron-always-on": along, "neuron-writes-what-it-reads": on * read}
    return {"k": k, "v": v, "x": x, "u": u, "list_k": list(k), "list_v": list(v), "list_x": list(x),
            "list_u": list(u), "on": on, "along": along, "answer": on * along, "wrong": wrong}  # fmt: skip
