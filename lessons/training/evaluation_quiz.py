"""Numbers and code for the questions on evaluation."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import are_far_apart, spoil_line

Values = dict[str, Any]


def by_tokens(random: Random) -> Values:
    """The loss of two batches, of which the second is padded."""
    while True:
        rows, length = random.choice([2, 4, 5, 8]), random.choice([10, 20, 50])
        first = rows * length
        second = random.choice([first // 10, first // 5, first // 2])
        a, b = (random.randrange(10, 45) / 10 for _ in "ab")
        answer = (a * first + b * second) / (first + second)
        wrong = {"evaluation-mean-of-means": (a + b) / 2, "evaluation-last-batch": b,
                 "evaluation-padding-counted": (a * first + b * second) / (2 * first)}  # fmt: skip
        if are_far_apart(answer, *wrong.values()):
            break
    return {"rows": rows, "length": length, "a": a, "b": b, "first": first, "second": second, "hidden": first - second,
            "both": first + second, "all": 2 * first, "answer": answer, "wrong": wrong}  # fmt: skip


def first_stop(losses: list[float], patience: int, late: int = 0, ties: bool = False, falls: bool = False) -> int:
    """After which evaluation it stops, by the rule or by a wrong one; 0 if never.

    Args:
        late: How many evaluations too late.
        ties: A tie with the best is progress.
        falls: A loss below the one before it is progress.
    """
    best, waited = float("inf"), 0
    for number, loss in enumerate(losses, 1):
        fell = falls and number > 1 and loss < losses[number - 2]
        waited = 0 if loss < best or (ties and loss == best) or fell else waited + 1
        best = min(best, loss)
        if waited >= patience + late:
            return number
    return 0


def stop_at(random: Random) -> Values:
    """Where training stops, for some losses and a patience."""
    while True:
        patience = random.choice([2, 3])
        losses = [random.randrange(26, 31) / 10]
        while len(losses) < 10:
            losses.append(round(losses[-1] + random.choice([-0.3, -0.2, -0.1, 0.1, 0.1, 0.2]), 1))
        answer = first_stop(losses, patience)
        wrong = {"evaluation-stops-at-a-rise": first_stop(losses, 1),
                 "evaluation-stops-late": first_stop(losses, patience, late=1),
                 "evaluation-tie-is-progress": first_stop(losses, patience, ties=True),
                 "evaluation-fall-is-progress": first_stop(losses, patience, falls=True)}  # fmt: skip
        kept: dict[str, int] = {}
        for tag, number in wrong.items():
            if number and number != answer and number not in kept.values():
                kept[tag] = number
        if answer >= 5 and len(kept) >= 2:
            break
    at = answer - patience
    return {"losses": losses, "patience": patience, "at": at, "best": losses[at - 1], "answer": answer, "wrong": kept}


def error(random: Random) -> Values:
    """The standard error of a mean over tokens."""
    while True:
        deviation, batches = random.choice([1.5, 1.8, 2, 2.4, 3]), random.choice([4, 5, 10, 20, 40])
        tokens = random.choice([100, 250, 500, 1000])
        n = batches * tokens
        wrong = {"evaluation-error-over-n": deviation / n, "evaluation-error-of-one": float(deviation),
                 "evaluation-error-by-batches": deviation / batches**0.5}  # fmt: skip
        if are_far_apart(deviation / n**0.5, *wrong.values()):
            break
    return {"deviation": deviation, "batches": batches, "tokens": tokens, "n": n, "answer": deviation / n**0.5,
            "wrong": wrong}  # fmt: skip


EVALUATE = """\
def evaluate(model, batches):
    was, total, count = model.training, 0.0, 0
    model.eval()
    for x, y in batches:
        with torch.no_grad():
            logits = model(x).flatten(0, 1)
        loss = F.cross_entropy(logits, y.flatten(), reduction="sum")
        total, count = total + loss.item(), count + (y != -100).sum().item()
    model.train(was)
    return total / count"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (3, "model.train()", 6, "two calls on the same batches give two losses", "Dropout is on. It must be eval()."),
    (4, "for x, y in list(batches)[:-1]:", 8, "another last batch gives the same loss", "The last batch is left out."),
    (5, "with torch.enable_grad():", 6, "it needs as much memory as training", "Autograd records the run."),
    (6, "logits = model(x).flatten(0, 1).softmax(-1)", 7, "the loss is never far from that of guessing",
     "cross_entropy takes raw logits: it does the softmax itself."),
    (7, "loss = F.cross_entropy(logits, y.flatten())", 8, "larger batches give smaller losses",
     "That is a mean, and means are added up as if they were sums."),
    (7, 'loss = F.cross_entropy(logits, x.flatten(), reduction="sum")', 6, "a model that copies gets the best loss",
     "x is what the model has read. The answers are y."),
    (8, "total, count = total + loss.item(), count + y.numel()", 10, "the more padding, the better the loss",
     "Targets of −100 are counted, and the sum has nothing of them."),
    (8, "total, count = loss.item(), (y != -100).sum().item()", 10, "only the last batch matters",
     "Each batch writes over the ones before it."),
    (8, "total, count = total + loss.item(), count + 1", 10, "the loss grows with the size of the batches",
     "Sums over tokens are divided by the number of batches."),
    (9, "model.train()", 2, "a model that comes in eval mode goes in train mode",
     "The mode is to be what it was: model.train(was)."),
    (9, "model.eval()", 3, "training goes on without dropout", "The mode is to be what it was: model.train(was)."),
    (10, "return math.exp(total / count)", 8, "a model that guesses among 50 tokens gets 50",
     "That is the perplexity."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """An evaluation with one line spoilt, and what is seen of it."""
    return spoil_line(random, EVALUATE, SPOILT, "evaluation-blames-the-symptom")
