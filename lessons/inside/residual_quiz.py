"""Numbers and code for the questions on the residual stream."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from grader.api.questions import spoil_line

Values = dict[str, Any]


def wrote(random: Random) -> Values:
    """What one branch wrote into one feature."""
    while True:
        stream = [round(random.uniform(-3, 3), 1) for _ in range(5)]
        which = random.randrange(2, 5)
        answer = round(stream[which] - stream[which - 1], 1)
        wrong = {"res-entry-is-written": stream[which], "res-since-the-input": round(stream[which] - stream[0], 1),
                 "res-one-branch-late": round(stream[which - 1] - stream[which - 2], 1)}  # fmt: skip
        if len({answer, *wrong.values()}) == 4:
            break
    return {"stream": stream, "which": which, "after": stream[which], "before": stream[which - 1], "answer": answer,
            "wrong": wrong}  # fmt: skip


def run_stream(x: int, factors: list[int], norm: int, *, residual: bool = True, order: str = "pre") -> list[int]:
    """The stream of one number; branch i multiplies, a norm takes a number off."""
    stream = [x]
    for factor in factors:
        here = stream[-1]
        if order == "from the norm":
            out = here - norm + factor * (here - norm)
        elif order == "pre":
            out = (here if residual else 0) + factor * (here - norm)
        else:
            out = here + factor * here - norm
        stream.append(out)
    return stream


def followed(random: Random) -> Values:
    """The stream of one number through two branches."""
    while True:
        x, norm = random.randrange(2, 7), random.choice([1, 2])
        factors, order = random.sample([2, 3, 4, 5], 2), random.choice(["pre", "post"])
        other = "post" if order == "pre" else "pre"
        answer = str(run_stream(x, factors, norm, order=order))
        wrong = {
            "res-other-placement": str(run_stream(x, factors, norm, order=other)),
            "res-branch-replaces": str(run_stream(x, factors, norm, residual=False)),
            "res-adds-to-the-copy": str(run_stream(x, factors, norm, order="from the norm")),
        }
        if len({answer, *wrong.values()}) == 4:
            break
    line = "x = x + f(norm(x))" if order == "pre" else "x = norm(x + f(x))"
    code = (
        f"norm = lambda y: y - {norm}\n"
        f"stream, x = [{x}], {x}\n"
        f"for f in (lambda y: {factors[0]} * y, lambda y: {factors[1]} * y):\n"
        f"    {line}\n"
        "    stream.append(x)\n"
        "print(stream)"
    )
    return {"code": code, "order": f"{order}-LN", "answer": answer, "wrong": wrong}


def entries(random: Random) -> Values:
    """How many tensors the list holds for a whole model."""
    layers = random.randrange(3, 25)
    return {"L": layers, "answer": 2 * layers + 1,
            "wrong": {"res-forgets-the-input": 2 * layers, "res-one-branch-a-block": layers + 1,
                      "res-entry-per-block-only": layers}}  # fmt: skip


def length(random: Random) -> Values:
    """The length of a stream on which orthogonal things were written."""
    while True:
        x, each, count = random.choice([3, 4, 5, 6, 8]), random.choice([1, 2, 3, 4]), random.choice([4, 8, 12, 24])
        answer = math.sqrt(x * x + count * each * each)
        wrong = {"res-lengths-add": x + count * each, "res-square-stays": answer**2,
                 "res-length-stays": x}  # fmt: skip
        if all(abs(a - b) > 0.05 * b for a in wrong.values() for b in [answer]):
            break
    return {"x": x, "wrote": each, "count": count, "answer": answer, "wrong": wrong}


STREAM = """\
def residual_stream(x, branches, norms):
    stream = [x]
    for branch, norm in zip(branches, norms):
        here = stream[-1]
        wrote = branch(norm(here))
        here = here + wrote
        stream.append(here)
    return stream"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (2, "stream = []", 6, "it ends in an IndexError at once", "The list begins empty, and has no last entry to read."),
    (3, "for branch, norm in zip(branches, norms[1:]):", 7, "the last branch is never called",
     "Every norm has moved by one place, and zip stops at the shorter list."),
    (4, "here = stream[0]", 7, "with three branches, the last entry is x and what the third branch wrote",
     "Every branch reads the first entry, and is added to it. It is to take the last one."),
    (5, "wrote = branch(here)", 3, "the norms make no difference", "The branch reads the stream without its norm."),
    (5, "wrote = norm(branch(here))", 3, "a branch that gives numbers ten times as large makes no difference",
     "What the branch gives is normed. In pre-LN it is what the branch reads."),
    (6, "here = wrote", 4, "of x nothing is left after a branch that gives 0",
     "The branch replaces the stream. It is to be added."),
    (6, "here = norm(here) + wrote", 5, "the length of the stream never grows, and a token cannot be large any more",
     "The sum takes the normed copy. The stream itself goes on."),
    (6, "here += wrote", 7, "all entries of the list are equal in the end",
     "+= writes into the tensor that is in the list already. A sum makes a new one."),
    (7, "stream.append(wrote)", 4, "the list holds what the branches gave, and each reads only the one before",
     "It is the stream that is appended, and read in the next round."),
    (8, "return stream[1:]", 2, "the list is one too short: x is not in it", "The first entry is cut off."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """A stream with one line spoilt, and what is seen of it."""
    return spoil_line(random, STREAM, SPOILT, "res-blames-the-symptom")
