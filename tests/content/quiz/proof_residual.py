"""The questions on the residual stream, answered by torch and by running code."""

from __future__ import annotations

import torch
from support.run_question_code import printed, run
from support.run_question_code import wrong_line as wrong_line_of


def wrote(question):
    """A difference of neighbours."""
    return torch.tensor(question.values["stream"], dtype=torch.float64).diff()[question.values["which"] - 1].item()


def followed(question):
    """Run it."""
    return printed(question.code)


def entries(question):
    """Count the entries of a list."""
    block = [abs, abs]
    stream = [0]
    for branch in block * question.values["L"]:
        stream.append(branch(stream[-1]))
    return len(stream)


def length(question):
    """Rows of an identity, scaled and added."""
    values = question.values
    rows = torch.eye(1 + values["count"], dtype=torch.float64) * values["wrote"]
    rows[0, 0] = values["x"]
    return rows.sum(0).norm().item()


def wrong_line(question):
    """The line whose repair gives the stream, each entry a tensor of its own."""

    def works(code):
        x, norms = torch.tensor([1.0, 5.0]), [lambda y: y - 1, lambda y: y - 2, lambda y: y - y.mean()]
        branches = [lambda y: 2 * y, lambda y: y * y, lambda y: -y]
        stream, expected = run(code)["residual_stream"](x, branches, norms), [torch.tensor([1.0, 5.0])]
        for branch, norm in zip(branches, norms, strict=True):
            expected.append(expected[-1] + branch(norm(expected[-1])))
        return len(stream) == 4 and all(map(torch.equal, stream, expected))

    return wrong_line_of(question, works)
