"""The questions on gradient clipping, answered by torch's own."""

from __future__ import annotations

import torch
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of


def clipped(gradients, most):
    """What torch makes of these gradients, and the norm that it reports."""
    parameters = [torch.nn.Parameter(torch.zeros(len(each), dtype=torch.float64)) for each in gradients]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = torch.tensor(gradient, dtype=torch.float64)
    total = torch.nn.utils.clip_grad_norm_(parameters, most)
    return [parameter.grad for parameter in parameters], total.item()


def norm(question):
    """The norm that torch reports."""
    return clipped([question.values["a"], question.values["b"]], 1.0)[1]


def entry(question):
    """The first gradient, clipped."""
    values = question.values
    return clipped([[values["x"]], [values["y"]]], values["most"])[0][0].item()


def step(question):
    """A step of plain descent."""
    values = question.values
    return values["rate"] * clipped([[float(values["length"])]], values["most"])[0][0].item()


def wrong_line(question):
    """The line whose repair gives what torch does, and changes nothing in place."""

    def works(code):
        for scale, most in ((1.0, 2.0), (0.01, 1.0), (5.0, 0.5)):
            grads = [torch.tensor([3.0, 0.0]) * scale, None, torch.tensor([4.0, 1.0, 2.0]) * scale]
            before = [grads[0].clone(), grads[2].clone()]
            out, total = run(code)["clip"](grads, most)
            expected, right = clipped([each.tolist() for each in before], most)
            same = [torch.allclose(a.double(), b, atol=1e-4) for a, b in zip((out[0], out[2]), expected, strict=True)]
            kept = torch.equal(grads[0], before[0]) and out[1] is None
            if not all(same) or not kept or abs(total.item() - right) > 1e-4:
                return False
        return True

    return wrong_line_of(question, works)
