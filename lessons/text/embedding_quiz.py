"""Numbers and code for the questions on embeddings."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import distinct_sizes, spoil_line

Values = dict[str, Any]


def shapes(random: Random) -> Values:
    """A lookup, the same as a product, and the gradient of the table."""
    vocab, width, *ids = distinct_sizes(random, random.choice([3, 4]), (2, 3, 4, 5, 6, 7, 9, 11))
    code = (
        f"weight = torch.randn({vocab}, {width}, requires_grad=True)\n"
        f"ids = torch.randint(0, {vocab}, ({', '.join(map(str, ids))},))\n"
        "rows = weight[ids]\n"
        f"hot = torch.nn.functional.one_hot(ids, {vocab}).float()\n"
        "rows.sum().backward()\n"
        "grad = weight.grad"
    )
    table, rows, hot = [vocab, width], [*ids, width], [*ids, vocab]
    wrong = [
        *({"tag": "emb-loses-the-shape", "blank": 1, "shape": each} for each in ([width], [*ids, vocab, width])),
        *({"tag": "emb-one-hot-width", "blank": 2, "shape": each} for each in ([*ids, width], ids)),
        *({"tag": "emb-gradient-of-rows", "blank": 3, "shape": each} for each in ([*ids, width], [width])),
    ]
    return {"V": vocab, "D": width, "code": code, "answer": [rows, hot, table], "wrong": wrong}


def row_gradient(random: Random) -> Values:
    """The gradient of one row, which occurs several times."""
    while True:
        row, count = random.randrange(5), random.choice([2, 3])
        ids = random.sample([row] * count + random.sample([each for each in range(5) if each != row], 2), count + 2)
        slopes = [random.choice([-3, -2, -1, 1, 2, 3, 4, 5]) for _ in ids]
        mine = [slope for id, slope in zip(ids, slopes, strict=True) if id == row]
        answer = sum(mine)
        wrong = {"emb-gradient-averaged": answer / count, "emb-last-place-only": mine[-1],
                 "emb-gradient-of-all": sum(slopes)}  # fmt: skip
        if len({answer, *wrong.values()}) == 4:
            break
    places = ", ".join(str(place) for place, id in enumerate(ids) if id == row)
    return {"ids": ids, "slopes": slopes, "row": row, "places": places, "added": " + ".join(map(str, mine)),
            "answer": answer, "wrong": wrong}  # fmt: skip


def trained(random: Random) -> Values:
    """How many numbers of a table one text trains."""
    vocab, width = random.choice([1000, 5000, 30000]), random.choice([16, 32, 64])
    distinct, more = random.randrange(4, 9), random.randrange(2, 6)
    kinds = random.sample(range(vocab), distinct)
    ids = random.sample(kinds + [random.choice(kinds) for _ in range(more)], distinct + more)
    answer = distinct * width
    wrong = {"emb-counts-places": len(ids) * width, "emb-trains-all-rows": vocab * width, "emb-counts-rows": distinct}
    return {"V": f"{vocab:,}", "vocab": vocab, "D": width, "ids": ids, "distinct": distinct, "T": len(ids),
            "answer": answer, "wrong": wrong}  # fmt: skip


EMBEDDING = """\
class Embedding(nn.Module):
    def __init__(self, V, D):
        super().__init__()
        self.V = V
        self.weight = nn.Parameter(torch.randn(V, D))

    def forward(self, ids):
        hot = nn.functional.one_hot(ids, self.V)
        hot = hot.to(self.weight.dtype)
        return hot @ self.weight"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (4, "self.V = D", 8, "with V = 50 and D = 4 the largest id that can be looked up is 3",
     "V is the number of ids. D, the width of a vector, has nothing to do with the one-hot vectors."),
    (5, "self.weight = torch.randn(V, D)", 10, "load_state_dict knows no name, and the table never changes in training",
     "That is a plain tensor. nn.Parameter makes it a part of the module."),
    (5, "self.weight = nn.Parameter(torch.randn(D, V))", 8, "the product fails with an error, but for V = D",
     "The table has a row for each id: (V, D)."),
    (5, "self.weight = nn.Parameter(torch.randn(V, D), requires_grad=False)", 10,
     "the table is saved with the model, and never changes in training",
     "It was made with requires_grad=False. A table is there to be learned."),
    (8, "hot = nn.functional.one_hot(ids.flatten(), self.V)", 10, "a batch of texts comes out as one long text",
     "flatten loses the shape of ids. one_hot takes ids of any shape."),
    (8, "hot = nn.functional.one_hot(ids - ids.min(), self.V)", 10, "what a token gets depends on the other ids",
     "The ids are moved so that the smallest becomes 0. An id means a row, whatever stands beside it."),
    (9, "hot = hot.to(self.weight.dtype) / hot.sum()", 10,
     "vectors are the shorter, the more tokens there are", "hot is divided by the number of tokens in the batch."),
    (10, "return hot @ self.weight.data", 5, "the values are right, and the table never changes in training",
     ".data leaves autograd behind: no gradient comes back to the table."),
    (10, "return (hot @ self.weight).mean(-2)", 8, "there is one vector for a text, and not one for each token",
     "mean(-2) averages the tokens away. Each id has its own vector."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """An embedding with one line spoilt, and what is seen of it."""
    return spoil_line(random, EMBEDDING, SPOILT, "emb-blames-the-symptom")
