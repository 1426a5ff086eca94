"""The questions on the limits of attention, answered by torch."""

from __future__ import annotations

import torch

DOUBLE = torch.float64


def possible_outputs(question):
    """The outputs that some scores give: all that gradient descent on the scores can reach."""
    values = torch.tensor(question.values["values"], dtype=DOUBLE)
    wanted = torch.tensor([float(option.text) for option in question.options], dtype=DOUBLE)
    shares = torch.linspace(0.001, 0.999, 999, dtype=DOUBLE)[:, None]
    ends = torch.full((len(values),), -30.0, dtype=DOUBLE)
    rows = ends.repeat(999, 1)
    rows[:, values.argmin()], rows[:, values.argmax()] = (1 - shares[:, 0]).log(), shares[:, 0].log()
    reached = rows.softmax(dim=-1) @ values
    return [place for place, each in enumerate(wanted) if (reached - each).abs().min() < 0.02]


def doubled_text(question):
    """A head of equal scores over a text that is repeated."""
    values = question.values
    text = torch.tensor([1.0] * values["count"] + [0.0] * (values["total"] - values["count"]), dtype=DOUBLE)
    text = text.repeat(values["times"])
    return (torch.zeros_like(text).softmax(dim=0) @ text).item()


def diluted(question):
    """The largest weight of a row with one key above the others."""
    scores = torch.zeros(question.values["n"], dtype=DOUBLE)
    scores[0] = torch.tensor(float(question.values["ratio"])).log()
    return scores.softmax(dim=0)[0].item()


def gap(question):
    """The gap that gives the long row the weight which a gap of 5 gives the short one, by bisection."""

    def weight(n, size):
        scores = torch.zeros(n, dtype=DOUBLE)
        scores[0] = size
        return scores.softmax(dim=0)[0].item()

    low, high = 5.0, 15.0
    for _ in range(60):
        middle = (low + high) / 2
        below = weight(question.values["long"], middle) < weight(question.values["short"], 5.0)
        low, high = (middle, high) if below else (low, middle)
    return low - 5.0


def pairs(question):
    """Entries of the two tables."""
    long, short = (torch.empty(question.values[name], 0) for name in ("long", "short"))
    return torch.empty(len(long), len(long), device="meta").numel() / (short @ short.T).numel()


def reach(question):
    """The tokens with a path to the last one through all layers."""
    layers, window = question.values["layers"], question.values["window"]
    sees = torch.ones(200, 200, dtype=torch.bool).tril() & ~torch.ones(200, 200, dtype=torch.bool).tril(-window)
    return float((torch.linalg.matrix_power(sees.to(DOUBLE), layers)[-1] > 0).sum() - 1)
