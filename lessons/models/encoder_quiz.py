"""Numbers and code for the questions on the encoder."""

from __future__ import annotations

from itertools import permutations
from math import exp, factorial, log
from random import Random
from typing import Any

from grader.api.questions import are_far_apart, spoil_line

Values = dict[str, Any]


def moved_vectors(random: Random) -> Values:
    """How many real vectors of a batch change where one id does."""
    while True:
        lengths, places = random.sample(range(4, 16), 3), random.randrange(16, 20)
        text = random.randrange(3)
        answer, place = lengths[text], random.randrange(1, lengths[text] - 1)
        wrong = {"enc-sees-the-past-only": answer - place, "enc-batch-mixes": sum(lengths), "enc-only-its-own": 1,
                 "enc-padding-counts": places, "enc-itself-untouched": answer - 1}  # fmt: skip
        if len({answer, *wrong.values()}) == 6:
            break
    return {"lengths": lengths, "T": places, "text": text, "place": place, "answer": answer, "wrong": wrong}


def pairs(random: Random) -> Values:
    """How many pairs of a real query and a key that it may see one layer has."""
    while True:
        lengths, places = random.sample(range(3, 10), 3), random.choice([10, 12])
        answer = sum(length**2 for length in lengths)
        wrong = {"enc-padding-counts": 3 * places**2, "enc-sees-the-past-only": sum(n * (n + 1) // 2 for n in lengths),
                 "enc-padded-keys": sum(lengths) * places, "enc-batch-mixes": sum(lengths) ** 2}  # fmt: skip
        if are_far_apart(answer, *wrong.values()):
            break
    squares = " + ".join(f"{n}²" for n in lengths)
    return {"lengths": lengths, "T": places, "squares": squares, "answer": answer, "wrong": wrong}


def share(random: Random) -> Values:
    """What part of a token's attention padding takes that nobody hides."""
    while True:
        tokens, padding, times = random.randrange(2, 7), random.randrange(2, 9), random.choice([2, 3, 4])
        total = tokens + times * padding
        answer = f"{times * padding / total:.3f}"
        wrong = {"enc-share-by-number": f"{padding / (tokens + padding):.3f}", "enc-share-of-tokens":
                 f"{tokens / total:.3f}", "enc-zeros-get-nothing": "0.000",
                 "enc-score-is-weight": f"{log(times) * padding / (tokens + log(times) * padding):.3f}"}  # fmt: skip
        if len({answer, *wrong.values()}) == 5:
            break
    score = round(log(times), 4)
    code = (
        f"scores = torch.tensor([0.0] * {tokens} + [{score}] * {padding})    # e^{score} = {exp(score):.0f}\n"
        f'print(f"{{scores.softmax(0)[{tokens}:].sum():.3f}}")'
    )
    return {"code": code, "tokens": tokens, "padding": padding, "times": times, "total": total,
            "answer": answer, "wrong": wrong}  # fmt: skip


def orders(random: Random) -> Values:
    """How many results the orders of a text have, when all its vectors are averaged."""
    twice, others = random.choice([2, 3]), random.choice([2, 3])
    ids = random.sample(range(1, 30), others + 1)
    ids = [ids[0]] * twice + ids[1:]
    random.shuffle(ids)
    different = len(set(permutations(ids)))
    placed = random.random() < 0.5
    wrong = {"enc-counts-equal-tokens-twice": factorial(len(ids)), "enc-one-order-a-place": len(ids)}
    wrong |= {"enc-bag-with-places": 1} if placed else {"enc-order-without-places": different}
    if placed:
        why = (f"Each order is another sum of tokens and places: {len(ids)}! / {twice}! = {different} of them, since "
               f"the {twice} equal tokens may change places unseen.")  # fmt: skip
    else:
        why = ("Without a mask and without positions attention is a sum over a set: shuffled tokens give the same "
               "vectors, shuffled, and their mean never changes.")  # fmt: skip
    kind = {"with": "with", "as_seen": "text"} if placed else {"with": "without", "as_seen": "tuple(sorted(text))"}
    answer = different if placed else 1
    return {**kind, "ids": ids, "different": different, "twice": twice, "why": why, "answer": answer, "wrong": wrong}


def nans(random: Random) -> Values:
    """How many vectors are NaN behind so many blocks, if padded queries are hidden as well."""
    while True:
        places, layers = random.randrange(7, 12), random.choice([1, 2])
        lengths = [*random.sample(range(2, places), 2), places]
        empty, spread = sum(places - n for n in lengths), 2 * places
        first, second = ("enc-nan-spreads-at-once", spread) if layers == 1 else ("enc-nan-stays", empty), 3 * places
        wrong = {first[0]: first[1], "enc-nan-in-all-texts": second, "enc-empty-row-is-zero": 0,
                 "enc-nan-counts-tokens": sum(lengths)}  # fmt: skip
        answer = empty if layers == 1 else spread
        if len({answer, *wrong.values()}) == 5:
            break
    random.shuffle(lengths)
    if layers == 1:
        why = f"Padded queries see no key, their softmax is 0/0: {empty} places. Real queries are as they should be."
    else:
        why = (f"Behind block 1 the {empty} places of padding are NaN. Block 2 gives them the weight 0, and 0 · NaN is "
               f"NaN: both texts that have padding are lost, all {places} places of each.")  # fmt: skip
    return {"lengths": lengths, "T": places, "L": layers, "why": why, "empty": empty, "answer": answer, "wrong": wrong}


ENCODER = """\
class Encoder(nn.Module):
    def __init__(self, V, max_len, D, H, L, d_ff):
        super().__init__()
        self.tok = nn.Embedding(V, D)
        self.pos = nn.Embedding(max_len, D)
        self.blocks = nn.ModuleList(
            TransformerBlock(D, H, d_ff) for _ in range(L))
        self.norm = nn.LayerNorm(D)

    def forward(self, ids, lengths):
        B, T = ids.shape
        real = torch.arange(T) < lengths[:, None]
        mask = real[:, None, None, :]
        x = self.tok(ids) + self.pos.weight[:T]
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x)"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (7, "[TransformerBlock(D, H, d_ff)] * L)", 15, "after training all layers hold the same numbers",
     "That is one block, L times in the list. Make a new one for each layer."),
    (11, "T, B = ids.shape", 14, "batches whose texts are longer than the batch is large end in an error",
     "ids is (B, T): the number of texts was taken for their length."),
    (12, "real = torch.arange(T) > lengths[:, None]", 16, "a text that fills its box gives NaN",
     "The comparison is turned round: it marks what lies behind the text, which here is nothing."),
    (12, "real = torch.arange(T) <= lengths[:, None]", 14, "a text's vectors depend on one id behind its end",
     "Places count from 0, so place lengths[b] is padding already."),
    (12, "real = torch.arange(T) < lengths.max()", 15, "only the longest text gives what it gives alone",
     "All texts get the mask of the longest. Each has a length of its own: a column, (B, 1)."),
    (13, "mask = real[:, None, :, None]", 16, "padding is read by the tokens, and NaN stands at its places",
     "The mask lies along the queries. The last axis is that of the keys."),
    (14, "x = self.tok(ids)", 15, "a text and its reverse have the same mean vector",
     "No places are added, and without them an encoder cannot tell one order from another."),
    (16, "x = block(x)", 12, "the vectors of a short text depend on the box that it is in",
     "The mask is made, and never reaches a block."),
    (16, "y = block(x, mask)", 15, "a model of twelve layers gives what stands in front of the first",
     "What a block gives is put aside, and x stays what it was."),
    (17, "return x", 8, "the last norm gets no gradient", "The norm is made and never called."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """An encoder with one line spoilt, and what is seen of it."""
    return spoil_line(random, ENCODER, SPOILT, "enc-blames-the-symptom")
