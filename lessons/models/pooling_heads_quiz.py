"""Numbers and code for the questions on pooling and heads."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import are_far_apart, distinct_sizes, spoil_line

Values = dict[str, Any]


def mean_of_one(random: Random) -> Values:
    """The mean of one feature of a padded text, and what the wrong masks make of it."""
    while True:
        tokens, padding = random.randrange(2, 5), random.randrange(2, 5)
        row = [random.randrange(-9, 10) for _ in range(tokens + padding)]
        own, total = sum(row[:tokens]), sum(row)
        found = {"right": own / tokens, "pool-mean-of-all": total / len(row), "pool-divides-by-T": own / len(row),
                 "pool-sums-padding": total / tokens, "pool-last-token": float(row[tokens - 1])}  # fmt: skip
        shown = {name: f"{value:.2f}" for name, value in found.items()}
        if len(set(shown.values())) == 5:
            break
    mask = [True] * tokens + [False] * padding
    code = (
        f"h = torch.tensor({[float(each) for each in row]})[None, :, None]    # (1, T, 1)\n"
        f"mask = torch.tensor({mask})[None]\n"
        'print(f"{masked_mean_pool(h, mask).item():.2f}")'
    )
    answer = shown.pop("right")
    return {"code": code, "own": own, "tokens": tokens, "T": len(row), "answer": answer, "wrong": shown}


def share(random: Random) -> Values:
    """How much of a gradient reaches one token through a mean."""
    while True:
        tokens, places = random.randrange(3, 8), random.randrange(9, 16)
        gradient = random.choice([12.0, 30.0, 42.0, 60.0, 84.0])
        values = {"right": gradient / tokens, "pool-share-of-T": gradient / places, "pool-gradient-whole": gradient,
                  "pool-share-of-padding": gradient / (places - tokens)}  # fmt: skip
        shown = {name: f"{value:.2f}" for name, value in values.items()}
        if places - tokens != tokens and len(set(shown.values())) == 4:
            break
    code = (
        f"h = torch.zeros(1, {places}, 1, requires_grad=True)\n"
        f"mask = torch.arange({places})[None] < {tokens}\n"
        f"({gradient} * masked_mean_pool(h, mask)).sum().backward()\n"
        'print(f"{h.grad[0, 0].item():.2f}")'
    )
    answer = shown.pop("right")
    return {"code": code, "tokens": tokens, "T": places, "gradient": gradient, "answer": answer, "wrong": shown}


def heard(random: Random) -> Values:
    """Of how many tokens the vector that is read out has heard."""
    while True:
        tokens, places, layers = random.randrange(6, 15), random.randrange(16, 25), random.choice([2, 3, 4])
        causal, pool = random.choice([(False, "cls"), (True, "cls"), (True, "last"), (False, "last")])
        answer = 1 if causal and pool == "cls" else tokens
        wrong = {"pool-hears-padding": places, "pool-one-place-a-layer": layers + 1}
        wrong |= {"pool-first-hears-all": tokens} if answer == 1 else {"pool-hears-itself-only": 1}
        if len({answer, *wrong.values()}) == 4:
            break
    reads = "first vector" if pool == "cls" else "last token's vector"
    model = "causal model (a GPT)" if causal else "encoder that hides padding"
    why = ("With a causal mask the first token sees itself, in every layer, and nothing else." if answer == 1 else
           f"It sees all {tokens} tokens already in the first layer, and padding in none.")  # fmt: skip
    return {"T": places, "tokens": tokens, "L": layers, "reads": reads, "model": model, "why": why,
            "rows": f"torch.ones({places}, {places}).bool()" + (".tril()" if causal else ""),
            "place": 0 if pool == "cls" else tokens - 1, "answer": answer, "wrong": wrong}  # fmt: skip


def numbers_of_heads(random: Random) -> Values:
    """How many numbers two heads have."""
    while True:
        width, classes, tags = random.choice([16, 24, 32, 40]), random.randrange(2, 6), random.randrange(7, 18)
        places = random.choice([20, 40, 50])
        answer = width * (classes + tags) + classes + tags
        wrong = {"pool-no-bias": width * (classes + tags), "pool-head-for-each-place":
                 (width + 1) * (classes + tags * places), "pool-one-head": (width + 1) * tags,
                 "pool-pooling-learns": answer + width * places}  # fmt: skip
        if are_far_apart(answer, *wrong.values()):
            break
    return {"D": width, "classes": classes, "tags": tags, "T": places, "answer": answer, "wrong": wrong}


def shapes(random: Random) -> Values:
    """The shapes from vectors to both kinds of labels."""
    B, T, D, C = distinct_sizes(random, 4, (2, 3, 4, 5, 6, 7, 8, 9))  # noqa: N806  the lesson's letters
    code = (
        f"h, head = torch.randn({B}, {T}, {D}), nn.Linear({D}, {C})\n"
        f"mask = torch.arange({T}) < torch.randint(1, {T + 1}, ({B}, 1))\n"
        "m = mask[:, :, None].float()\n"
        "pooled = (h * m).sum(1) / m.sum(1)\n"
        "of_texts, of_tokens = head(pooled), head(h)"
    )
    wrong = [
        {"tag": "pool-mask-without-axis", "blank": 1, "shape": [B, T]},
        {"tag": "pool-keeps-places", "blank": 2, "shape": [B, T, D]},
        {"tag": "pool-pools-features", "blank": 2, "shape": [B, T]},
        {"tag": "pool-keeps-places", "blank": 3, "shape": [B, T, C]},
        {"tag": "pool-one-label-a-batch", "blank": 4, "shape": [B, C]},
    ]
    answer = [[B, T, 1], [B, D], [B, C], [B, T, C]]
    return {"code": code, "B": B, "T": T, "D": D, "C": C, "answer": answer, "wrong": wrong}


POOLING = """\
class Classifier(nn.Module):
    def __init__(self, D, C):
        super().__init__()
        self.head = nn.Linear(D, C)

    def mean(self, h, mask):
        m = mask[:, :, None].float()
        return (h * m).sum(1) / m.sum(1).clamp(min=1)

    def last(self, h, mask):
        n = mask.sum(1)
        return h[torch.arange(len(h)), n - 1]

    def largest(self, h, mask):
        hidden = ~mask[:, :, None]
        return h.masked_fill(hidden, -torch.inf).amax(1)

    def forward(self, h, mask, pool):
        pooled = getattr(self, pool)(h, mask)
        return self.head(pooled)"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (8, "return (h * m).mean(1)", 7, "with the mean, short texts get small vectors",
     "Padding is out of the sum and still counted: the mean divides by T."),
    (8, "return h.sum(1) / m.sum(1).clamp(min=1)", 7, "with the mean, the numbers at places of padding matter",
     "The count leaves padding out, the sum does not."),
    (8, "return (h * m).sum(1) / m.sum(1)", 20, "with the mean, a text without a token gives NaN",
     "Without a token that is 0/0. A count of at least 1 makes it 0."),
    (8, "return (h * m).sum(1) / m.sum().clamp(min=1)", 7, "with the mean, a text's vector depends on its batch",
     "The count is that of the whole batch. Each text has one of its own."),
    (7, "m = (~mask)[:, :, None].float()", 8, "with the mean, a text that fills its box gives zeros",
     "The mask is turned round, so that padding is averaged, and here there is none."),
    (11, "n = mask.size(1)", 12, "with the last token, padding is read",
     "That is the number of places, T, and not that of the tokens."),
    (12, "return h[torch.arange(len(h)), n]", 11, "with the last token, a text that fills its box is an error",
     "n tokens stand at the places 0 to n − 1."),
    (12, "return h[:, -1]", 11, "with the last token, only texts that fill their box are right",
     "The last place is padding in all other texts."),
    (16, "return h.masked_fill(hidden, 0.0).amax(1)", 15, "with the largest, no feature of a padded text is negative",
     "Padding is made 0, and 0 is larger than every negative number. −∞ never wins."),
    (16, "return h.amax(1)", 20, "with the largest, the numbers at places of padding matter",
     "The padding is found and never hidden."),
    (15, "hidden = mask[:, :, None]", 16, "with the largest, a text that fills its box gives −∞",
     "The tokens are hidden, and the padding is left."),
    (20, "return self.head(pooled).softmax(-1)", 4, "cross-entropy never gets near 0, however long one trains",
     "Those are probabilities, and cross-entropy makes a softmax of them once more."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """A classifier of texts with one line spoilt, and what is seen of it."""
    return spoil_line(random, POOLING, SPOILT, "pool-blames-the-symptom")
