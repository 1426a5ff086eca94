"""The questions on the learning rate, answered by torch's schedulers."""

from __future__ import annotations

import math

import torch
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of


def rates(top, low, warmup, total):
    """The rates of the steps 1 … total, by torch's cosine behind a line."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=top)
    fall = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, total - warmup, eta_min=low)
    found = [top * (step + 1) / warmup for step in range(warmup)]
    for _ in range(total - warmup):
        optimizer.step()
        fall.step()
        found.append(optimizer.param_groups[0]["lr"])
    return found


def rising(question):
    """A line through 0 and the peak."""
    values = question.values
    return torch.linspace(0, values["top"], values["warmup"] + 1, dtype=torch.float64)[values["step"]].item()


def falling(question):
    """Torch's rate of that step."""
    values = question.values
    return rates(values["top"], values["low"], values["warmup"], values["total"])[values["step"] - 1]


def area(question):
    """The mean of torch's rates, which a sum of steps misses by less than a hundredth."""
    values = question.values
    mean = sum(rates(values["top"], 0.0, values["warmup"], values["total"])) / values["total"]
    return question.answer if math.isclose(mean, question.answer, rel_tol=0.01) else mean


def wrong_line(question):
    """The line whose repair gives torch's rates, and the floor behind the end."""
    expected = [*rates(1.0, 0.2, 10, 50), 0.2, 0.2]

    def works(code):
        lr_at = run(code)["lr_at"]
        found = [lr_at(step, 1.0, 0.2, 10, 50) for step in (*range(1, 51), 51, 90)]
        return all(math.isclose(a, b, abs_tol=1e-9) for a, b in zip(found, expected, strict=True))

    return wrong_line_of(question, works)
