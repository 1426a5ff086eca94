"""The questions on learned positions, answered by torch."""

from __future__ import annotations

import torch
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of


def row_gradient(question):
    """Autograd's sum."""
    table = torch.nn.Embedding(20, 1)
    for length in question.values["lengths"]:
        table(torch.arange(length)).sum().backward()
    return table.weight.grad[question.values["place"], 0].item()


def numbers(question):
    """Torch's table."""
    return torch.nn.Embedding(question.values["longest"], question.values["D"]).weight.numel()


def wrong_line(question):
    """The line whose repair adds row t to token t, trains the table and takes the longest text."""
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(5, 3, generator=generator)

    def works(code):
        made = run(code)["LearnedPositionalEmbedding"](5, 3)
        made.load_state_dict({"weight": weight})
        for shape in ((2, 5, 3), (3, 4, 3)):
            x = torch.randn(shape, generator=generator)
            y = made(x)
            y.sum().backward()
            if y.shape != x.shape or not torch.allclose(y, x + weight[: shape[1]]):
                return False
        return made.weight.grad[:, 0].tolist() == [5, 5, 5, 5, 2]

    return wrong_line_of(question, works)
