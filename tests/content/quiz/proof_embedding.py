"""The questions on embeddings, answered by torch."""

from __future__ import annotations

import torch
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of
from torch.nn import functional as F  # noqa: N812  (the name that everybody uses)


def gradient_of_table(ids, rows, width, slopes):
    """What torch's own lookup sends back to the table."""
    weight = torch.zeros(rows, width, requires_grad=True)
    F.embedding(torch.tensor(ids), weight).backward(slopes)
    return weight.grad


def shapes(question):
    """Run it."""
    space = run(question.code)
    return [tuple(space[name].shape) for name in question.details["blanks"]]


def row_gradient(question):
    """The row of the gradient."""
    values = question.values
    slopes = torch.tensor(values["slopes"]).float().unsqueeze(1)
    return gradient_of_table(values["ids"], 5, 1, slopes)[values["row"], 0].item()


def trained(question):
    """What is not 0 in the gradient."""
    values = question.values
    slopes = torch.ones(len(values["ids"]), values["D"])
    return int((gradient_of_table(values["ids"], values["vocab"], values["D"], slopes) != 0).sum())


def wrong_line(question):
    """The line whose repair gives torch's values and gradient, under the right name."""
    weight = torch.randn(7, 3, generator=torch.Generator().manual_seed(0))

    def works(code):
        table = run(code)["Embedding"](7, 3)
        table.load_state_dict({"weight": weight})
        for ids in (torch.tensor([[3, 6, 3], [1, 1, 2]]), torch.tensor(4)):
            mine = table(ids)
            theirs = F.embedding(ids, weight)
            mine.sum().backward()
            if mine.shape != theirs.shape or not torch.allclose(mine, theirs):
                return False
        return torch.equal(table.weight.grad.sum(1), torch.tensor([0, 6, 3, 6, 3, 0, 3.0]))

    return wrong_line_of(question, works)
