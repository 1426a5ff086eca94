"""Numbers for the questions on training in practice."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random
from typing import Any

Values = dict[str, Any]

CAUSES = {  # the bug, and the misconception of whoever sees another one in its curve
    "the losses are summed, not averaged": "sum-not-recognised",
    "softmax is applied before cross_entropy": "double-softmax-not-recognised",
    "the gradients are cleared between backward and step": "still-loss-not-recognised",
    "the model can see the token it is to predict": "leak-not-recognised",
}


def loss_curve(random: Random) -> Values:
    """Which bug fits the first and the last loss of a run with V characters."""
    size, batch, length = random.choice([28, 40, 65, 96, 128]), random.choice([4, 8, 16]), random.choice([16, 32])
    start, floor, answers = math.log(size), math.log(1 + (size - 1) / math.e), batch * length
    right = random.choice(list(CAUSES))
    first, last, why = {
        "the losses are summed, not averaged": (
            answers * start, answers * 1.9,
            f"It begins at {answers} × ln {size}, with ln {size} = {start:.2f}: one for each of {answers} answers."),
        "softmax is applied before cross_entropy": (
            start, floor + 0.02,
            f"It stops near ln(1 + {size - 1}/e) = {floor:.2f}. Probabilities lie within 1 of each other, so taken for "
            "logits even the surest and rightest cannot do better."),
        "the gradients are cleared between backward and step": (
            start, start,
            f"It stays at ln {size} = {start:.2f}: the parameters never move. With zero_grad between backward and "
            "step, there is nothing to step with."),
        "the model can see the token it is to predict": (
            start, 0.01,
            f"It begins at ln {size} = {start:.2f} as it should, but no real text can be predicted so well. The answer "
            "stands in the input, or the mask lets it through."),
    }[right]  # fmt: skip
    wrong = [{"text": text, "tag": CAUSES[right]} for text in CAUSES if text != right]
    return {"size": size, "batch": batch, "length": length, "first": first, "last": last, "why": why, "right": right,
            "wrong": wrong}  # fmt: skip


def learning_rate(random: Random) -> Values:
    """Linear warm-up, then half a cosine down to 0, at a step where it can be worked out by hand."""
    top, warm = random.choice([0.0003, 0.0006, 0.001, 0.002, 0.004]), random.choice([100, 200, 400])
    decay = warm * random.choice([6, 12, 18])
    total = warm + decay
    wrong = {"top-at-once": top}
    if random.random() < 0.3:
        share, step = 0.0, warm * random.choice([1, 2, 3]) // 4
        answer = top * step / warm
        why = f"Step {step} is still in the warm-up, a straight line from 0: {step}/{warm} of {top:g}."
    else:
        share, height, name = random.choice([(1 / 3, 0.75, "1/3"), (1 / 2, 0.5, "1/2"), (2 / 3, 0.25, "2/3")])
        step = warm + round(decay * share)
        answer = top * height
        wrong["warm-up-in-the-decay"] = top * (1 + math.cos(math.pi * step / total)) / 2
        if height != 0.5:
            wrong["straight-line-for-cosine"] = top * (1 - share)
        why = (f"Of the {decay:,} steps after the warm-up {step - warm:,} are over, {name} of them. Half a cosine that "
               f"falls from 1 to 0 has the height (1 + cos({name}·π))/2 = {height:g} there.")  # fmt: skip
    return {"top": top, "warm": warm, "total": total, "decay": decay, "step": step, "why": why, "answer": answer,
            "wrong": wrong}  # fmt: skip


QUADRUPLES = (  # three numbers, and the root of the sum of their squares
    (1, 2, 2, 3), (2, 3, 6, 7), (1, 4, 8, 9), (2, 6, 9, 11), (6, 6, 7, 11), (3, 4, 12, 13), (2, 5, 14, 15),
    (2, 10, 11, 15), (8, 9, 12, 17), (6, 10, 15, 19),
)  # fmt: skip


def clipping(random: Random) -> Values:
    """Clipping by the joint norm: all gradients shrink alike, or not at all."""
    while True:
        one, two, three, norm = random.choice(QUADRUPLES)
        clipped = random.random() < 0.7
        limit = round(norm * random.choice([0.1, 0.2, 0.5]), 6) if clipped else norm + random.choice([0.5, 1])
        answer = round(three * limit / norm, 6) if clipped else three
        wrong = {
            "clip-each-by-itself": min(three, limit),
            "sum-for-norm": three * min(1, limit / (one + two + three)),
            "norm-without-root": three * min(1, limit / norm**2),
        }
        if not clipped:
            wrong["clip-always"] = three * limit / norm
            del wrong["clip-each-by-itself"]
        values = sorted([answer, *wrong.values()])
        if min(high - low for low, high in pairwise(values)) > 0.02:
            break
    if clipped:
        what = f"That is more than {limit:g}, so all are multiplied by {limit:g}/{norm}: {three} becomes {answer:g}."
    else:
        what = f"That is less than {limit:g}, so nothing is changed."
    return {"one": one, "two": two, "three": three, "norm": norm, "limit": limit, "what": what, "answer": answer,
            "wrong": wrong}  # fmt: skip


LOOP = """\
model.train()
optimizer.zero_grad()
for inputs, targets in micro_batches:
    logits = model(inputs)
    loss = F.cross_entropy(logits, targets)
    (loss / len(micro_batches)).backward()
clip_grad_norm_(model.parameters(), max_norm=1.0)
optimizer.step()
model.eval()
with torch.no_grad():
    held_out = F.cross_entropy(model(new_inputs), new_targets)"""
SLIPS = {  # what stands there in place of the right line: the line, why it is wrong
    "model.eval()": (1, "In eval mode there is no dropout, so the step would be made without it."),
    "    loss = F.cross_entropy(logits.softmax(dim=-1), targets)": (
        5, "cross_entropy takes logits and does the softmax itself; here it would be applied twice."),
    "    loss = F.cross_entropy(logits, targets, reduction='sum')": (
        5, "With the sum over the examples, dividing by the number of micro-batches gives {size} times the mean."),
    "    loss.backward()": (
        6, "backward adds to .grad: without the division it is the sum of {count} means, {count} times too large."),
    "    (loss / len(inputs)).backward()": (
        6, "cross_entropy has divided by the examples already. What is left is to divide by the number of batches."),
    "model.train()": (9, "In train mode dropout is on, so the held-out loss is that of a crippled model, and random."),
    "    held_out = F.cross_entropy(model(inputs), targets)": (
        11, "inputs and targets are still the last micro-batch: that is a training loss."),
}  # fmt: skip


def accumulation(random: Random) -> Values:
    """One step from several micro-batches, then the held-out loss, with one line wrong."""
    count, size = random.choice([3, 4, 6]), random.choice([5, 10])
    slip = random.choice(sorted(SLIPS))
    line, why = SLIPS[slip]
    lines = LOOP.split("\n")
    fix, lines[line - 1] = lines[line - 1].strip(), slip
    blamed = {"cleared-once-a-step": 2, "clipped-once-a-step": 7, "measured-in-eval-mode": 9}
    wrong = {tag: place for tag, place in blamed.items() if place != line}
    return {"count": count, "size": size, "code": "\n".join(lines), "answer": line, "fix": fix,
            "why": why.format(count=count, size=size), "wrong": wrong}  # fmt: skip


def best_epoch(random: Random) -> Values:
    """The model to keep is that of the smallest held-out loss."""
    epochs = random.choice([6, 7, 8])
    best = random.randrange(2, epochs - 1)
    train = [round(random.uniform(2.2, 2.6), 2)]
    held_out = [round(train[0] + 0.06, 2)]
    for epoch in range(2, epochs + 1):
        train.append(round(train[-1] - random.uniform(0.15, 0.3), 2))
        step = -random.uniform(0.06, 0.12) if epoch <= best else random.uniform(0.03, 0.09)
        held_out.append(round(held_out[-1] + step, 2))
    rows = [f"{epoch:5}   {a:8.2f}   {b:8.2f}" for epoch, (a, b) in enumerate(zip(train, held_out, strict=True), 1)]
    code = "\n".join(["epoch   training   held-out", *rows])
    return {"epochs": epochs, "train": train, "held_out": held_out, "lowest": held_out[best - 1], "code": code,
            "last_train": train[-1], "last_held_out": held_out[-1], "answer": best,
            "wrong": {"chosen-by-training-loss": epochs, "chosen-by-the-gap": 1}}  # fmt: skip


def weight_decay(random: Random) -> Values:
    """AdamW: without a gradient a weight still shrinks, by the factor 1 − lr·λ."""
    while True:
        weight, rate, decay = (
            random.choice([2, 3, 4, 5]),
            random.choice([0.1, 0.05, 0.02]),
            random.choice([0.1, 0.2, 0.5]),
        )
        if weight * decay != 1:
            break
    answer = round(weight * (1 - rate * decay), 6)
    wrong = {
        "decay-without-the-rate": weight * (1 - decay),
        "decay-needs-a-gradient": weight,
        "decay-through-the-gradient": weight - rate,
    }
    return {"weight": weight, "rate": rate, "decay": decay, "product": round(rate * decay, 6), "answer": answer,
            "wrong": wrong}  # fmt: skip


MODES = {
    "nn.Dropout(0.1)": True, "nn.BatchNorm1d(8)": True, "nn.AlphaDropout(0.2)": True,
    "nn.TransformerEncoderLayer(8, 2, dropout=0.1)": True, "nn.LayerNorm(8)": False, "nn.Linear(8, 8)": False,
    "nn.GELU()": False, "nn.Softmax(dim=-1)": False, "nn.RMSNorm(8)": False, "nn.Dropout(0.0)": False,
}  # fmt: skip


def train_eval(random: Random) -> Values:
    """Modules whose output depends on the mode."""
    changing = random.sample([text for text, changes in MODES.items() if changes], random.choice([2, 3]))
    chosen = changing + random.sample([text for text, changes in MODES.items() if not changes], 5 - len(changing))
    tags = {True: "mode-change-overlooked", False: "mode-change-imagined"}
    options = [{"text": text, "right": MODES[text], "tag": tags[MODES[text]]} for text in chosen]
    return {"options": options, "changing": "; ".join(changing)}


def dropout(random: Random) -> Values:
    """An entry that survives is divided by 1 − p in training, and left alone in evaluation."""
    p = random.choice([0.1, 0.2, 0.25, 0.4, 0.6, 0.75, 0.8])
    training = random.random() < 0.6
    result = random.choice([2, 3, 5, 10])
    entry = round(result * (1 - p), 6)
    scaled = round(entry * (1 - p), 6)
    wrong = {"dropout-not-rescaled": entry} if training else {"dropout-in-eval": result}
    wrong["dropout-scales-down"] = scaled
    why = (
        f"In training each entry survives with the probability {1 - p:g}, and survivors are divided by it: "
        f"{entry:g} / {1 - p:g} = {result}. So the mean stays the same."
        if training
        else f"In eval mode dropout does nothing at all: {entry:g} stays {entry:g}. The rescaling is done in training."
    )
    return {"p": p, "mode": "train" if training else "eval", "entry": entry, "why": why, "survives": round(1 - p, 6),
            "case": "and the entry is not dropped" if training else "and the model is being measured",
            "answer": result if training else entry, "wrong": wrong}  # fmt: skip


FALLS, SWINGS, GROWS = (
    "the loss falls, and w keeps its sign", "the loss falls, and w changes its sign each step",
    "the loss grows, and w changes its sign each step",
)  # fmt: skip


def step_size(random: Random) -> Values:
    """Gradient descent on c·w²/2 multiplies w by 1 − lr·c in every step."""
    steepness = random.choice([2, 4, 5, 10, 20])
    share = random.choice([0.2, 0.5, 0.8, 1.2, 1.5, 1.8, 2.2, 2.5, 3])
    right = FALLS if share < 1 else SWINGS if share < 2 else GROWS
    tags = {FALLS: "overshoot-unnoticed", SWINGS: "overshoot-unnoticed", GROWS: "divergence-unnoticed"}
    wrong = [{"text": text, "tag": "divergence-imagined" if text == GROWS else tags[right]}
             for text in (FALLS, SWINGS, GROWS) if text != right]  # fmt: skip
    factor = round(1 - share, 6)
    return {"steepness": steepness, "rate": share / steepness, "share": share, "factor": factor,
            "size": abs(factor), "start": random.choice([2, 3, 5]), "right": right, "wrong": wrong}  # fmt: skip


def batch_noise(random: Random) -> Values:
    """The noise of a mean of independent gradients falls with the root of their number."""
    root = random.choice([2, 3, 4, 5])
    batch = random.choice([4, 8, 10, 16])
    answer = random.choice([0.05, 0.1, 0.15, 0.2, 0.3])
    noise = round(answer * root, 6)
    wrong = {"noise-falls-with-the-batch": noise / root**2, "noise-unchanged": noise, "noise-grows": noise * root}
    return {"root": root, "batch": batch, "larger": batch * root**2, "times": root**2, "noise": noise, "answer": answer,
            "too_little": noise / root**2, "wrong": wrong}  # fmt: skip
