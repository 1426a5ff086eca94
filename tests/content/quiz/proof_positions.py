"""The questions on positions, answered by torch."""

from __future__ import annotations

import re

import torch

DOUBLE = torch.float64


def rows(positions: torch.Tensor, width: int, base: int = 10000) -> torch.Tensor:
    """Rows of the table as hands of a clock: complex numbers, the p-th power of one step each."""
    step = torch.exp(torch.arange(0, width, 2, dtype=DOUBLE) * (-torch.log(torch.tensor(base, dtype=DOUBLE)) / width))
    hands = torch.polar(torch.ones_like(step), step) ** positions[:, None]
    return torch.stack([hands.imag, hands.real], dim=-1).flatten(1)


def table(count: int, width: int) -> torch.Tensor:
    return rows(torch.arange(count), width)


def attend(x: torch.Tensor, causal: bool = False) -> torch.Tensor:
    scores = x @ x.T / x.shape[-1]
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), float("-inf"))
    return scores.softmax(dim=-1) @ x


def entry(question):
    values = question.values
    return float(rows(torch.tensor([values["p"]]), values["D"])[0, values["column"]])


def wavelength(question):
    """From the angle between the rows 0 and 1."""
    values = question.values
    sine, cosine = rows(torch.tensor([1]), values["D"], values["base"])[0, values["column"] :][:2]
    return float(2 * torch.pi / torch.atan2(sine, cosine))


def row_length(question):
    return float(rows(torch.tensor([question.values["p"]]), question.values["D"]).norm())


def same_dot(question):
    pe = table(600, 64)
    wanted = pe[question.values["p"]] @ pe[question.values["q"]]
    pairs = [tuple(map(int, re.findall(r"\d+", option.text))) for option in question.options]
    return [place for place, (p, q) in enumerate(pairs) if torch.isclose(pe[p] @ pe[q], wanted, atol=1e-9)]


def table_bug(question):
    """The line whose replacement by the right one makes the table right."""
    lines = question.code.split("\n")
    right = table(20, 8).float()
    assert not torch.allclose(_made(lines), right, atol=1e-3)
    repaired = []
    for place, line in enumerate(lines):
        indent = line[: len(line) - len(line.lstrip())]
        others = [*lines[:place], indent + question.details["fix"], *lines[place + 1 :]]
        try:
            repaired += [place + 1] if torch.allclose(_made(others), right, atol=1e-3) else []
        except (NameError, SyntaxError, RuntimeError, TypeError, AttributeError, IndexError):
            continue
    assert len(repaired) == 1
    return repaired[0]


def _made(lines: list[str]) -> torch.Tensor:
    space = {"torch": torch}
    exec("\n".join(lines), space)
    return space["table"](20, 8).float()


def bag(question):
    return [place for place, option in enumerate(question.options) if _told_apart(option.text)]


def _told_apart(text: str) -> bool:
    one, other = (sentence.split() for sentence in re.findall(r'"(.*?)"', text))
    generator = torch.Generator().manual_seed(len(text))
    words = {word: torch.randn(8, dtype=DOUBLE, generator=generator) for word in sorted({*one, *other})}
    means = [attend(torch.stack([words[word] for word in sentence])).mean(0) for sentence in (one, other)]
    return not torch.allclose(*means, atol=1e-6)


def order_blind(question):
    torch.manual_seed(question.attempt)
    x = torch.randn(5, 8, dtype=DOUBLE)
    orders = [torch.tensor([4, 2, 0, 3, 1]), torch.tensor([1, 0, 2, 3, 4])]
    blind = []
    for place, option in enumerate(question.options):
        model = _model(option.text)
        with torch.no_grad():
            blind += [place] if all(torch.allclose(model(x), model(x[order])) for order in orders) else []
    return blind


def _model(text: str):
    mlp = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 8)).double()
    norm = torch.nn.LayerNorm(8).double()
    unit = torch.nn.LSTM(8, 6).double() if "LSTM" in text else torch.nn.GRU(8, 6).double()
    window = torch.nn.Conv1d(8, 8, 3).double()

    def block(x):
        h = norm(x + attend(x))
        return norm(h + mlp(h))

    return {
        "self-attention without positions, then the mean over the tokens": lambda x: attend(x).mean(0),
        "self-attention without positions, then each feature's maximum over the tokens": lambda x: attend(x).amax(0),
        "two encoder blocks without positions, then the mean over the tokens": lambda x: block(block(x)).mean(0),
        "the mean of the token embeddings": lambda x: x.mean(0),
        "one MLP for each token, then the mean over the tokens": lambda x: mlp(x).mean(0),
        "self-attention after adding sinusoidal positions, then the mean": lambda x: attend(x + table(5, 8)).mean(0),
        "causal self-attention without positions, then the mean over the tokens": lambda x: attend(x, True).mean(0),
        "a convolution of width 3 with ReLU, then the mean over the places": lambda x: window(x.T).relu().mean(1),
        "an LSTM without positions, its last hidden state": lambda x: unit(x)[0][-1],
        "a GRU without positions, its last hidden state": lambda x: unit(x)[0][-1],
    }[text]


def rope_score(question):
    values = question.values
    quarter = torch.tensor([[0.0, -1.0], [1.0, 0.0]])
    q = torch.matrix_power(quarter, values["m"]) @ torch.tensor(values["q"]).float()
    k = torch.matrix_power(quarter, values["n"]) @ torch.tensor(values["k"]).float()
    return float(q @ k)
