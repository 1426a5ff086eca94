"""The questions on the feed-forward network, answered by torch."""

from __future__ import annotations

import torch
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of
from torch import nn


def shapes(question):
    """Run it."""
    space = run(question.code)
    return [tuple(space[name].shape) for name in question.details["blanks"]]


def numbers(question):
    """Count the parameters of a sequence of layers."""
    width, hidden = question.values["D"], question.values["d_ff"]
    network = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, width))
    return sum(parameter.numel() for parameter in network.parameters())


def unit(question):
    """Two linear maps with one hidden unit."""
    values = question.values
    w1, w2 = nn.Linear(3, 1), nn.Linear(1, 1, bias=False)
    w1.weight.data = torch.tensor([values["pattern"]]).float()
    w1.bias.data = torch.tensor([values["bias"]]).float()
    w2.weight.data = torch.tensor([[values["column"]]]).float()
    return w2(w1(torch.tensor(values["x"]).float()).relu()).item()


def wrong_line(question):
    """The line whose repair gives torch's values and gradients under the four names."""
    torch.manual_seed(0)
    right = nn.ModuleDict({"w1": nn.Linear(3, 5), "w2": nn.Linear(5, 3)})
    x = torch.randn(2, 4, 3)
    expected = right["w2"](nn.functional.gelu(right["w1"](x)))
    expected.sum().backward()

    def works(code):
        made = run(code)["FeedForward"](3, 5)
        made.load_state_dict(right.state_dict())
        y = made(x)
        y.sum().backward()
        grads = zip(made.parameters(), right.parameters(), strict=True)
        return torch.allclose(y, expected) and all(torch.allclose(a.grad, b.grad) for a, b in grads)

    return wrong_line_of(question, works)
