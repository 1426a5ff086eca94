"""The questions on the gradient of attention, answered by autograd."""

from __future__ import annotations

import math

import torch
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of


def three_keys(question):
    """Autograd's gradient at the first score."""
    weights, slopes = (torch.tensor([question.values[each] for each in letters]).double() for letters in ("abc", "xyz"))
    scores = weights.log().requires_grad_()
    (scores.softmax(dim=0) @ slopes).backward()
    return scores.grad[0].item()


def value_collects(question):
    """Autograd's gradient at the second value, where the other two tokens share the rest of each row."""
    mine, slopes = (torch.tensor([question.values[each] for each in letters]).double() for letters in ("abc", "xyz"))
    values = torch.tensor([0.3, -1.0, 2.0], dtype=torch.float64, requires_grad=True)
    weights = torch.stack(((1 - mine) / 3, mine, 2 * (1 - mine) / 3), dim=1)
    (weights @ values @ slopes).backward()
    return values.grad[1].item()


def row_sum(question):
    """The sum over the keys, with weights and values of which the output is the mean."""
    out, d_out = (torch.tensor(question.values[name], dtype=torch.float64) for name in ("out", "d_out"))
    torch.manual_seed(question.attempt)
    p = torch.randn(9, dtype=torch.float64).softmax(dim=0)
    v = torch.randn(9, len(out), dtype=torch.float64)
    v = v - p @ v + out
    return (p * (v @ d_out)).sum().item()


def wrong_line(question):
    """The line whose repair gives autograd's five gradients."""

    def works(code):
        for given in (1.0, 2.0, 0.0, 3.0, -1.0, 1.0), (-0.5, 1.0, 2.0, 0.5, 2.0, -3.0), (2.0, -1.0, 0.3, 1.0, 4.0, 0.5):
            q, k1, k2, v1, v2 = leaves = [torch.tensor(each, requires_grad=True) for each in given[:5]]
            a = torch.sigmoid(q * k1 - q * k2)
            (given[5] * (a * v1 + (1 - a) * v2)).backward()
            found = run(code)["backward"](*given)
            if not all(math.isclose(x, leaf.grad, abs_tol=1e-5) for x, leaf in zip(found, leaves, strict=True)):
                return False
        return True

    return wrong_line_of(question, works)
