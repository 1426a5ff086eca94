"""Numbers and code for the questions on writing a training step."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

from grader.api.questions import distinct_sizes

Values = dict[str, Any]


# --- the order of calls -----------------------------------------------------------------------------------------------

CLEAR, BACK, STEP = "optimizer.zero_grad()", "(w * x).backward()", "optimizer.step()"


def clear(random: Random) -> Values:
    """Where a few SGD steps lead if the gradients are cleared at this place, or never."""
    while True:
        xs = random.sample([-3, -2, 1, 2, 3, 4, 5], random.choice([2, 3]))
        start, rate = random.randrange(10, 40), random.choice([0.5, 1.0, 2.0])
        sums = [sum(xs[: place + 1]) for place in range(len(xs))]
        fresh, piled = start - rate * sum(xs), start - rate * sum(sums)
        if len({fresh, piled, start + rate * sum(xs), float(start), 2.0 * start - fresh}) >= 4 and fresh != piled:
            break
    place = random.choice(["first", "first", "last", "between", "between", "never", "never", "before"])
    lines = {"first": [CLEAR, BACK, STEP], "last": [BACK, STEP, CLEAR], "between": [BACK, CLEAR, STEP]}
    body = lines.get(place, [BACK, STEP])
    answer = {"between": float(start), "never": piled, "before": piled}.get(place, fresh)
    wrong = {
        "training-cleared-before-use": float(start), "training-gradients-pile-up": piled,
        "training-takes-fresh-gradients": fresh, "training-steps-uphill": 2 * start - answer,
    }  # fmt: skip
    code = [f"w = torch.tensor({float(start)}, requires_grad=True)", f"optimizer = torch.optim.SGD([w], lr={rate})"]
    code += [CLEAR] * (place == "before") + [f"for x in {xs}:", *(f"    {line}" for line in body), "print(w.item())"]
    unlike, taken = {}, {answer}
    for tag, value in wrong.items():
        if value not in taken:
            unlike[tag] = str(value)
            taken.add(value)
    return {"xs": str(xs), "start": start, "rate": rate, "code": "\n".join(code), "answer": str(answer),
            "wrong": unlike, "sums": str(sums), "why": _why_cleared(place, xs, sums)}  # fmt: skip


def _why_cleared(place: str, xs: list[int], sums: list[int]) -> str:
    if place == "between":
        return "Here it is erased between backward and step, so every step finds nothing, and w stays where it is."
    if place in ("never", "before"):
        return (f"Here nothing is cleared between the steps, and backward adds to what is there. So the steps use "
                f"{sums} in place of {xs}.")  # fmt: skip
    return f"Here it is cleared once per step, and not between backward and step: each step uses its own x, {xs}."


SHIFT = "inputs, targets = text[:, :-1], text[:, 1:]"
FORWARD = "logits = model(inputs)"
LOSS = "loss = loss_of(logits, targets)"
BACKWARD = "loss.backward()"
CLIP = "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)"
AFTER = "print(loss_of(model(inputs), targets))"


def call_order(random: Random) -> Values:
    """The calls of one step, of which each needs the one before."""
    shifts, clips = random.random() < 0.6, random.random() < 0.6
    end = random.choice([CLEAR, CLEAR, AFTER])
    steps = [SHIFT] * shifts + [FORWARD, LOSS, BACKWARD] + [CLIP] * clips + [STEP, end]
    task = {
        CLEAR: "At the beginning no parameter has a gradient, and at the end none shall have one either.",
        AFTER: "What is printed is the loss on the same batch with the new parameters.",
    }[end]
    extra = " Gradients are clipped: scaled down if their norm is above 0.1." if clips else ""
    given = "text holds token ids, (B, T + 1)" if shifts else "inputs and targets are given, (B, T) each"
    clause = " Clipping changes gradients, so it stands between backward and step." if clips else ""
    return {"steps": steps, "task": task, "extra": extra, "given": given, "clause": clause,
            "tail": "zero_grad comes last: earlier it would erase what the step needs, or leave new gradients behind."
                    if end == CLEAR else
                    "The loss with the new parameters can be had only behind the step."}  # fmt: skip


# --- targets and shapes -----------------------------------------------------------------------------------------------


def shift(random: Random) -> Values:
    """What a way to make targets gives: the next tokens, or something that only looks like it."""
    ids = random.sample(range(1, 30), 8)
    rows = [ids[:4], ids[4:]]
    ways = {
        "slice": ("text[:, 1:]", [row[1:] for row in rows]),
        "same": ("text[:, :-1]", [row[:-1] for row in rows]),
        "rows": ("text[1:]", rows[1:]),
        "twice": ("text[:, 1:][:, 1:]", [row[2:] for row in rows]),
        "flat": ("text.roll(-1)", [[*row[1:], after[0]] for row, after in zip(rows, rows[::-1], strict=True)]),
        "wrapped": ("text.roll(-1, dims=1)", [row[1:] + row[:1] for row in rows]),
        "back": ("text.roll(1, dims=1)", [row[-1:] + row[:-1] for row in rows]),
    }
    way = random.choice(["slice", "twice", "flat", "flat", "wrapped", "wrapped", "back", "back", "rows"])
    tags = {
        "slice": {
            "same": "training-targets-are-inputs",
            "twice": "training-shifted-twice",
            "rows": "training-shifts-rows",
        },
        "twice": {"slice": "training-shifted-once"},
        "flat": {"wrapped": "training-roll-by-row", "slice": "training-roll-drops", "back": "training-roll-direction"},
        "wrapped": {"flat": "training-roll-flat", "slice": "training-roll-drops", "back": "training-roll-direction"},
        "back": {"wrapped": "training-roll-direction"},
        "rows": {"slice": "training-slices-rows"},
    }[way]
    why = {
        "slice": "These are the right targets for inputs text[:, :-1]: each row without its first token.",
        "twice": "Each slice drops a token in front. Targets that were shifted before are now two tokens ahead: that "
                 "is the double shift.",
        "flat": "roll without dims moves the whole line of numbers. So the last target of each row is the first token "
                "of another text, which cannot be predicted.",
        "wrapped": "With dims=1 each row is moved by itself and wraps round: its last target is its own first token. "
                   "That one is wrong and must not count in the loss.",
        "back": "roll(1) moves to the right, so each target is the token before, not the one after. The model has just "
                "read it.",
        "rows": "The first slice of a tensor belongs to its first axis: that is text 1, not the tokens from 1 on.",
    }[way]  # fmt: skip
    code = f"text = torch.tensor({rows})   # (B, T)\nprint({ways[way][0]}.tolist())"
    return {"code": code, "call": ways[way][0], "answer": str(ways[way][1]), "why": why,
            "wrong": {tag: str(ways[other][1]) for other, tag in tags.items()}}  # fmt: skip


def shapes(random: Random) -> Values:
    """The shapes of logits, targets and losses on the two ways to please cross_entropy."""
    while True:
        B, T, V = distinct_sizes(random, 3, (2, 3, 4, 5, 6, 7, 8, 9, 10, 11))  # noqa: N806 - the lesson's letters
        if B * T != V:
            break
    answer = [(B * T, V), (B * T,), (B, V, T), (B, T), ()]
    wrong = [
        {"tag": "training-flattens-classes", "blank": 1, "shape": [B, T * V]},
        {"tag": "training-flattens-all", "blank": 1, "shape": [B * T * V]},
        {"tag": "training-loss-keeps-classes", "blank": 2, "shape": [B * T, V]},
        {"tag": "training-mean-anyway", "blank": 2, "shape": []},
        {"tag": "training-axes-from-one", "blank": 3, "shape": [T, B, V]},
        {"tag": "training-loss-keeps-classes", "blank": 4, "shape": [B, V, T]},
        {"tag": "training-mean-anyway", "blank": 4, "shape": []},
        {"tag": "training-loss-over-tokens", "blank": 4, "shape": [B, V]},
        {"tag": "training-scalar-as-vector", "blank": 5, "shape": [1]},
    ]
    code = (
        f"B, T, V = {B}, {T}, {V}\nlogits = torch.randn(B, T, V)\ntargets = torch.randint(V, (B, T))\n"
        'flat = logits.flatten(0, 1)\nloss_of = torch.nn.CrossEntropyLoss(reduction="none")\n'
        "each = loss_of(flat, targets.flatten())\nturned = logits.transpose(1, 2)\n"
        "apiece = loss_of(turned, targets)\nloss = each.mean()"
    )
    return {"B": B, "T": T, "V": V, "N": B * T, "answer": answer, "wrong": wrong, "code": code}


# --- a bigram model by hand -------------------------------------------------------------------------------------------


def bigram_step(random: Random) -> Values:
    """One entry of a table of zeros after one step of gradient descent: lr · (n_ij − n_i/V) / T."""
    while True:
        V, T = random.choice([(4, 5), (5, 5), (4, 8), (5, 10), (4, 10)])  # noqa: N806 - the lesson's letters
        ids = [random.randrange(V) for _ in range(T + 1)]
        rate = random.choice([1.0, 2.0, 4.0])
        i, j = random.choice(ids[:-1]), random.randrange(V)
        n_i = ids[:-1].count(i)
        n_ij = sum(pair == (i, j) for pair in pairwise(ids))
        gap = n_ij - n_i / V
        wrong = {
            "training-steps-uphill": -rate * gap / T, "training-sum-for-mean": rate * gap,
            "training-no-push-down": rate * n_ij / T, "training-mean-of-the-row": rate * gap / n_i,
            "one-gradient-for-a-row": rate * gap / n_i / T,
        }  # fmt: skip
        wrong = {tag: round(value, 6) for tag, value in wrong.items()}
        answer = round(rate * gap / T, 6)
        if n_i in (2, 3) and n_ij < n_i and len({answer, *wrong.values()}) == 6:
            break
    return {"V": V, "T": T, "rate": rate, "i": i, "j": j, "n_i": n_i, "n_ij": n_ij, "inputs": str(ids[:-1]),
            "targets": str(ids[1:]), "code": f"inputs  = {ids[:-1]}\ntargets = {ids[1:]}", "answer": answer,
            "wrong": wrong, "gap": round(gap, 6), "gradient": round(-gap / T, 6)}  # fmt: skip


# --- what is kept -----------------------------------------------------------------------------------------------------

HOLDS = (
    ("loss", "training-keeps-the-graph"),
    ("loss.clone()", "training-copy-cuts-the-graph"),
    ("loss * 1.0", "training-copy-cuts-the-graph"),
    ("loss.cpu()", "training-copy-cuts-the-graph"),
    ("loss.view(1)", "training-copy-cuts-the-graph"),
    ("logits[0, 0, 0]", "training-piece-keeps-all"),
    ("logits.mean()", "training-piece-keeps-all"),
)
FREES = (
    ("loss.item()", "training-number-is-free"),
    ("float(loss.detach())", "training-number-is-free"),
    ("loss.tolist()", "training-number-is-free"),
    ("loss.detach()", "training-detach-is-free"),
    ("loss.detach().clone()", "training-detach-is-free"),
    ("logits.argmax(dim=-1)", "training-detach-is-free"),
)


def keeps(random: Random) -> Values:
    """Things to keep of each step, and whether the graph of the step is kept with them."""
    count = random.choice([1, 2, 2, 3, 3, 4])
    drawn = [(each, True) for each in random.sample(HOLDS, count)]
    drawn += [(each, False) for each in random.sample(FREES, 5 - count)]
    options = [{"text": f"kept.append({what})", "right": right, "tag": tag} for (what, tag), right in drawn]
    listed = ", ".join(f'"{what}"' for (what, _), _ in drawn)
    return {"options": options, "listed": listed}


# --- mistakes ---------------------------------------------------------------------------------------------------------

FIT = """\
def fit(table, batches, rate):
    seen = []
    for inputs, targets in batches:
        logp = table[inputs].log_softmax(dim=-1)
        right = logp.gather(-1, targets.unsqueeze(-1))
        loss = -right.mean()
        loss.backward()
        with torch.no_grad():
            table -= rate * table.grad
        table.grad = None
        seen.append(loss.item())
    return seen"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (3, "for inputs, targets in batches[:1]:", 12, "the result has one entry, however many batches there are",
     "The slice leaves only the first batch. All of them are to be used, in order."),
    (4, "logp = table[inputs].softmax(dim=-1)", 6, "the first loss of a table of zeros is −1/V, not ln V",
     "Without the logarithm the loss is the mean probability with a minus sign. Cross-entropy takes the logarithm."),
    (4, "logp = table[inputs].log_softmax(dim=1)", 5, "the first loss of a table of zeros is ln T, not ln V",
     "Axis 1 of (B, T, V) is that of the positions, which here share out the probability. It is the V tokens that do."),
    (4, "logp = table[targets].log_softmax(dim=-1)", 5, "the loss goes to 0, and the inputs make no difference to it",
     "The row of the answer is looked up, so the answer is part of the question. The row belongs to the input token."),
    (5, "right = logp.gather(-1, inputs.unsqueeze(-1))", 4, "the loss goes to 0, and the targets make no difference to "
                                                            "it",
     "The log-probability of the input token is taken. The answer is the target."),
    (6, "loss = -right.sum()", 9, "the first loss of a table of zeros is B·T times ln V",
     "The sum grows with the batch, and the steps with it. The lesson's loss is the mean over all positions."),
    (6, "loss = right.mean()", 9, "the values in seen are negative and go down without end",
     "That is the mean log-probability. Making it smaller makes the right tokens less likely: the minus is missing."),
    (6, "loss = -right[:, -1].mean()", 5, "with two texts of 50 tokens at most two rows of the table change in a step",
     "Only the last position of each text counts. All B·T positions are questions."),
    (9, "table += rate * table.grad", 6, "from a table of zeros the losses rise and rise, beginning at ln V",
     "The gradient points uphill. A step goes against it."),
    (9, "table -= rate * table", 7, "the batches have no influence on the table",
     "The table shrinks by a share of itself. A step subtracts the rate times the gradient, table.grad."),
    (10, "loss.grad = None", 7, "the first step is right, and the later ones are wrong",
     "The old gradient of the table stays, and backward adds to it. It is table.grad that must be cleared."),
    (11, "seen = [loss.item()]", 2, "all batches are used, but the result holds the last loss only",
     "The list is made anew in each step. The loss must be appended."),
)  # fmt: skip


def fit(random: Random) -> Values:
    """A bigram table trained without an optimiser, one line spoilt, and what is seen of it."""
    line, spoilt, blamed, symptom, why = random.choice(SPOILT)
    lines = FIT.split("\n")
    fix, indent = lines[line - 1].strip(), len(lines[line - 1]) - len(lines[line - 1].lstrip())
    lines[line - 1] = " " * indent + spoilt
    return {"code": "\n".join(lines), "answer": line, "fix": fix, "symptom": symptom, "why": why,
            "wrong": {"training-blames-the-symptom": blamed}}  # fmt: skip
