"""Numbers and code for the questions on GPT."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import are_far_apart, distinct_sizes, dot, spoil_line

Values = dict[str, Any]


def parameters(random: Random) -> Values:
    """How many numbers a small GPT has, with what is often forgotten or counted twice."""
    while True:
        width, layers = random.choice([16, 32, 48, 64]), random.choice([2, 3, 4])
        vocab, longest = random.choice([30, 65, 100, 200]), random.choice([24, 40, 80, 128])
        block = 12 * width * width + 9 * width
        answer = vocab * width + longest * width + layers * block + 2 * width
        wrong = {
            "gpt-counts-head-twice": answer + vocab * width,
            "gpt-forgets-positions": answer - longest * width,
            "gpt-one-block": answer - (layers - 1) * block,
            "gpt-forgets-tables": answer - (vocab + longest) * width,
        }
        if are_far_apart(answer, *wrong.values()):
            break
    return {"D": width, "L": layers, "V": vocab, "longest": longest, "d_ff": 4 * width, "block": block,
            "tables": (vocab + longest) * width, "norm": 2 * width, "answer": answer, "wrong": wrong}  # fmt: skip


def shapes(random: Random) -> Values:
    """The shapes on the way from ids to logits."""
    B, T, V, D, longest = distinct_sizes(random, 5, (2, 3, 4, 5, 6, 7, 8, 9))  # noqa: N806  the lesson's letters
    T, longest = min(T, longest), max(T, longest)  # noqa: N806
    code = (
        f"tok, pos = nn.Embedding({V}, {D}), nn.Embedding({longest}, {D})\n"
        f"ids = torch.randint({V}, ({B}, {T}))\n"
        f"rows = pos.weight[:{T}]\n"
        "x = tok(ids) + rows\n"
        f"mask = torch.ones({T}, {T}).tril().bool()\n"
        "logits = nn.LayerNorm(x.size(-1))(x) @ tok.weight.T"
    )
    wrong = [
        {"tag": "gpt-rows-for-all-places", "blank": 1, "shape": [longest, D]},
        {"tag": "gpt-rows-per-text", "blank": 1, "shape": [B, T, D]},
        {"tag": "gpt-stream-as-ids", "blank": 2, "shape": [B, T]},
        {"tag": "gpt-last-place-only", "blank": 3, "shape": [B, V]},
        {"tag": "gpt-stays-in-the-stream", "blank": 3, "shape": [B, T, D]},
    ]
    return {"code": code, "B": B, "T": T, "V": V, "D": D, "answer": [[T, D], [B, T, D], [B, T, V]], "wrong": wrong}


def scores(random: Random) -> Values:
    """The score of one token: the stream against a row of the table."""
    while True:
        table = [[random.randrange(-3, 4) for _ in range(3)] for _ in range(3)]
        stream, token = [random.randrange(-3, 4) for _ in range(3)], random.randrange(3)
        score = dot(stream, table[token])
        wrong = {
            "gpt-column-for-row": dot(stream, [row[token] for row in table]),
            "gpt-largest-score": max(dot(stream, row) for row in table),
            "gpt-adds-the-row": sum(stream) + sum(table[token]),
        }
        if len({score, *wrong.values()}) == 4:
            break
    code = (
        f"E = torch.tensor({table})\nx = torch.tensor({stream})    # behind the last norm\n"
        f"logits = x @ E.T\nprint(logits[{token}].item())"
    )
    return {"code": code, "token": token, "row": table[token], "stream": stream, "answer": str(score),
            "wrong": {tag: str(each) for tag, each in wrong.items()}}  # fmt: skip


def moved_logits(random: Random) -> Values:
    """How many rows of logits change where one id does."""
    while True:
        tokens, layers = random.randrange(8, 30), random.choice([2, 3, 4, 6])
        place = random.randrange(3, tokens - 2)
        answer = tokens - place
        wrong = {"gpt-only-its-own-place": 1, "gpt-place-itself-untouched": answer - 1, "gpt-past-changes": place + 1,
                 "gpt-one-place-a-layer": layers + 1, "gpt-everything-changes": tokens}  # fmt: skip
        if len({answer, *wrong.values()}) == 6 and layers + 1 < answer:
            break
    return {"T": tokens, "L": layers, "place": place, "answer": answer, "wrong": wrong}


GPT = """\
class GPT(nn.Module):
    def __init__(self, V, max_len, D, H, L, d_ff):
        super().__init__()
        self.tok = nn.Embedding(V, D)
        self.pos = nn.Embedding(max_len, D)
        self.blocks = nn.ModuleList(
            TransformerBlock(D, H, d_ff) for _ in range(L))
        self.norm = nn.LayerNorm(D)
        self.head = nn.Linear(D, V, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, ids):
        B, T = ids.shape
        x = self.tok(ids) + self.pos.weight[:T]
        mask = torch.ones(T, T).tril().bool()
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (6, "self.blocks = list(", 17, "the blocks are as random after training as before",
     "A Python list hides its modules. The optimizer never gets their parameters."),
    (10, "self.head.weight.data.copy_(self.tok.weight)", 18, "after one step of training the two tables differ",
     "The numbers are copied once; there are still two parameters. Assign the parameter itself."),
    (13, "T, B = ids.shape", 14, "batches whose texts are longer than the batch is large end in an error",
     "ids is (B, T): the number of texts was taken for their length."),
    (14, "x = self.tok(ids) + self.pos.weight", 15, "every text that is shorter than max_len is an error",
     "The whole table of places is added. A text of T tokens needs its first T rows."),
    (14, "x = self.tok(ids)", 16, "with one layer, the last row of logits does not notice when earlier tokens are "
     "exchanged", "No places are added, so attention cannot tell which of the earlier tokens came first."),
    (15, "mask = torch.ones(T, T).bool()", 17, "a token that is changed changes the logits before it",
     "The mask allows everything. tril leaves the past and the token itself."),
    (15, "mask = torch.ones(T, T).tril(-1).bool()", 17, "with two layers, all logits are NaN",
     "The first token may see nothing at all: its softmax is 0/0, and the next layer hands the NaN on to all others."),
    (17, "y = block(x, mask)", 16, "a model of twelve layers gives what stands in front of the first",
     "What a block gives is put aside, and x stays what it was."),
    (18, "return self.head(self.norm(x)).softmax(-1)", 10, "cross-entropy never gets near 0, however long one trains",
     "Those are probabilities, and cross-entropy makes a softmax of them once more."),
    (18, "return self.head(x)", 8, "the last norm gets no gradient", "The norm is made and never called."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """A GPT with one line spoilt, and what is seen of it."""
    return spoil_line(random, GPT, SPOILT, "gpt-blames-the-symptom")
