"""Numbers and code for the questions on gradient clipping."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from grader.api.questions import spoil_line

Values = dict[str, Any]

TRIPLES = ((3, 4, 5), (6, 8, 10), (5, 12, 13), (8, 15, 17), (7, 24, 25))


def norm(random: Random) -> Values:
    """The joint norm of two gradients."""
    while True:
        a, b = (random.choice([[3, 4], [6, 8], [1, 2, 2], [2, 3, 6], [4, 4, 7], [2, 6, 9], [8, 9, 12]]) for _ in "ab")
        answer = math.sqrt(sum(x * x for x in a + b))
        lengths = [math.sqrt(sum(x * x for x in each)) for each in (a, b)]
        wrong = {"clip-norms-add": sum(lengths), "clip-forgets-the-root": answer**2, "clip-largest-number": max(a + b),
                 "clip-numbers-add": sum(a + b)}  # fmt: skip
        if a != b and len({answer, *wrong.values()}) == 5:
            break
    squares = " + ".join(f"{x}²" for x in a + b)
    return {"a": a, "b": b, "squares": squares, "square": sum(x * x for x in a + b), "answer": answer, "wrong": wrong}


def entry(random: Random) -> Values:
    """One number after clipping."""
    while True:
        x, y, length = random.choice(TRIPLES)
        most = random.choice([0.5, 1, 2, length + 5])
        factor = min(1.0, most / length)
        wrong = {"clip-numbers-apart": min(x, most), "clip-numbers-add": x * min(1.0, most / (x + y)),
                 "clip-to-max-norm": x * most / length}  # fmt: skip
        answer = x * factor
        if most > length:
            wrong = {"clip-to-max-norm": x * most / length, "clip-scales-always": x / length}
        else:
            wrong.pop("clip-to-max-norm")
            wrong["clip-forgets-max-norm"] = x / length
        wrong = {tag: each for tag, each in wrong.items() if abs(each - answer) > 0.01 * answer}
        if len(wrong) >= 2 and len(set(wrong.values())) == len(wrong):
            break
    why = f"{length} is more than {most}, so everything is multiplied by {most}/{length}" if most < length else (
        f"{length} is no more than {most}, so nothing is scaled")  # fmt: skip
    return {"x": x, "y": y, "most": most, "length": length, "why": why, "answer": answer, "wrong": wrong}


def step(random: Random) -> Values:
    """The length of a step of plain descent with clipping."""
    while True:
        rate, most = random.choice([0.01, 0.05, 0.1, 0.5]), random.choice([0.5, 1, 2, 5])
        length = random.choice([0.1, 0.2, 3, 8, 20, 40])
        answer = rate * min(most, length)
        wrong = {"clip-step-unclipped": rate * length, "clip-step-always-most": rate * most,
                 "clip-step-without-rate": min(most, length)}  # fmt: skip
        wrong = {tag: each for tag, each in wrong.items() if abs(each - answer) > 1e-6}
        if len(set(wrong.values())) == len(wrong) >= 2:
            break
    return {"rate": rate, "most": most, "length": length, "left": min(most, length), "answer": answer,
            "wrong": wrong}  # fmt: skip


CLIP = """\
def clip(grads, max_norm):
    kept = [g for g in grads if g is not None]
    squares = [g.square().sum() for g in kept]
    norm = sum(squares) ** 0.5
    factor = torch.clamp(max_norm / norm, max=1.0)
    out = [None if g is None else g * factor for g in grads]
    return out, norm"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (2, "kept = grads", 3, "a parameter without a gradient ends in an error",
     "None is not left out, and has no square."),
    (2, "kept = grads[:1]", 5, "only the first gradient decides whether anything is clipped",
     "All gradients belong to the norm."),
    (3, "squares = [g.square().mean() for g in kept]", 4, "the larger the tensors, the longer may the gradients be",
     "The mean does not grow with the number of entries. The squares are added."),
    (3, "squares = [g.abs().sum() for g in kept]", 4, "for a single gradient of (3, 4) the norm is 2.65",
     "Absolute values are no squares."),
    (4, "norm = sum(squares)", 5, "for a gradient of (3, 4) the norm is 25", "The root is missing."),
    (4, "norm = sum(s ** 0.5 for s in squares)", 5, "two gradients of norm 3 and 4 have the norm 7",
     "Norms are added. It is the squares that add."),
    (5, "factor = max_norm / norm", 6, "gradients near 0 become as long as max_norm",
     "The factor is not held at 1, so what is short is made longer."),
    (5, "factor = torch.clamp(norm / max_norm, max=1.0)", 6, "long gradients stay long, short ones vanish",
     "The fraction is upside down."),
    (5, "factor = torch.clamp(1.0 / norm, max=1.0)", 6, "max_norm makes no difference", "It is max_norm / norm."),
    (6, "out = [g * factor for g in kept]", 2, "gradients behind a None belong to the wrong parameters",
     "None is dropped from the list, and what follows moves up."),
    (6, "out = [None if g is None else g.mul_(factor) for g in grads]", 5, "the caller's gradients are changed",
     "mul_ works in place. g * factor makes a new tensor."),
    (7, "return out, norm * factor", 4, "the norm is never more than max_norm", "That is the norm after clipping."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """Clipping with one line spoilt, and what is seen of it."""
    return spoil_line(random, CLIP, SPOILT, "clip-blames-the-symptom")
