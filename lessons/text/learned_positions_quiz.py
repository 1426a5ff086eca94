"""Numbers and code for the questions on learned positions."""

from __future__ import annotations

from random import Random
from typing import Any

from grader.api.questions import spoil_line

Values = dict[str, Any]


def entry(random: Random) -> Values:
    """One entry of what comes out."""
    while True:
        longest, tokens, batch = 6, random.choice([4, 5]), random.choice([3, 4])
        rows = random.sample(range(1, 30), longest)
        text, place = random.randrange(batch), random.randrange(tokens)
        x = [[random.randrange(100, 900, 100) for _ in range(tokens)] for _ in range(batch)]
        answer = x[text][place] + rows[place]
        wrong = {
            "lp-counts-texts": x[text][place] + rows[text],
            "lp-counts-from-one": x[text][place] + rows[place + 1],
            "lp-counts-from-the-end": x[text][place] + rows[place - tokens],
            "lp-forgets-the-token": rows[place],
        }
        if len({answer, *wrong.values()}) == 5:
            break
    code = (
        f"table = torch.tensor({rows})          # D = 1, left out\n"
        f"x = torch.tensor({x})\n"
        f"y = x + table[:x.size(1)]\n"
        f"print(y[{text}, {place}].item())"
    )
    return {"code": code, "text": text, "place": place, "x": x[text][place], "row": rows[place],
            "answer": str(answer), "wrong": {tag: str(each) for tag, each in wrong.items()}}  # fmt: skip


def row_gradient(random: Random) -> Values:
    """The gradient of one row, from texts of several lengths."""
    while True:
        lengths = [random.randrange(2, 12) for _ in range(random.choice([4, 5, 6]))]
        place = random.randrange(1, 9)
        answer = sum(length > place for length in lengths)
        wrong = {"lp-all-texts-reach": len(lengths), "lp-one-text-teaches": 1, "lp-row-off-by-one":
                 sum(length >= place for length in lengths)}  # fmt: skip
        if len({answer, *wrong.values()}) == 4:
            break
    return {"lengths": lengths, "place": place, "B": len(lengths), "answer": answer, "wrong": wrong}


def numbers(random: Random) -> Values:
    """How many numbers positions add to a model."""
    width = random.choice([32, 64, 128, 256])
    vocab, longest, layers = random.choice([65, 100, 500]), random.choice([128, 256, 512]), random.choice([2, 4, 6])
    wrong = {"lp-table-in-every-layer": layers * longest * width, "lp-table-per-token": vocab * width,
             "lp-one-number-a-place": longest}  # fmt: skip
    return {"D": width, "V": vocab, "L": layers, "longest": longest, "answer": longest * width, "wrong": wrong}


POSITIONS = """\
class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, D):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(max_len, D))

    def forward(self, x):
        B, T, D = x.shape
        if T > self.weight.size(0):
            raise ValueError("too long")
        places = torch.arange(T)
        rows = self.weight[places]
        return x + rows"""

SPOILT = (
    # (line, what stands there, the line that is blamed for it, what is seen, why)
    (4, "self.weight = torch.randn(max_len, D)", 11, "the rows are as random after training as before",
     "That is a plain tensor. nn.Parameter makes it a part of the module."),
    (7, "T, B, D = x.shape", 10, "with two texts of five tokens there is an error, or only two rows are used",
     "B and T are exchanged: x is (B, T, D), so T was taken to be the number of texts."),
    (8, "if T >= self.weight.size(0):", 10, "a text of exactly max_len tokens is refused",
     "There are max_len rows, so a text of max_len tokens fits."),
    (10, "places = torch.arange(T) % 2", 11, "tokens 0, 2 and 4 get the same vector of place",
     "Each place has a row of its own, and the remainder leaves only two."),
    (10, "places = torch.arange(1, T + 1)", 11, "a text of max_len tokens ends in an IndexError",
     "Those are the rows 1 … T. Places begin at 0."),
    (10, "places = torch.arange(T).flip(0)", 12, "what the first token is given depends on how long the text is",
     "The places are turned round: token 0 gets row T − 1."),
    (11, "rows = self.weight[places].mean(0)", 12, "exchanging two tokens exchanges two outputs, and nothing else",
     "The mean is the same for all tokens. Each is to get its own row."),
    (11, "rows = self.weight.data[places]", 4, "the values are right, and the table never changes in training",
     ".data leaves autograd behind."),
    (12, "return x * rows", 11, "where a row holds zeros, nothing of the token is left",
     "Rows are added. A product with 0 is 0."),
    (12, "return rows.expand(B, T, D)", 11, "all texts of the same length give the same",
     "x is not used: the rows have to be added to it."),
)  # fmt: skip


def wrong_line(random: Random) -> Values:
    """Learned positions with one line spoilt, and what is seen of it."""
    return spoil_line(random, POSITIONS, SPOILT, "lp-blames-the-symptom")
