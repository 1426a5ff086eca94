"""The questions on AdamW, answered by torch.optim."""

from __future__ import annotations

import torch
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of


def stepped(w, grads, lr, decay):
    """The weight after torch's AdamW has taken a step with each gradient."""
    weight = torch.tensor(w, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.AdamW([weight], lr=lr, weight_decay=decay, eps=1e-14)
    for grad in grads:
        weight.grad = torch.as_tensor(grad, dtype=torch.float64)
        optimizer.step()
    return weight.detach()


def first_step(question):
    """One step of torch's."""
    values = question.values
    return stepped(values["w"], [values["g"]], values["lr"], values["decay"]).item()


def running_mean(question):
    """The state of torch's optimizer."""
    weight = torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.AdamW([weight], betas=(question.values["beta"], 0.999))
    for _ in range(question.values["t"]):
        weight.grad = torch.tensor(question.values["g"], dtype=torch.float64)
        optimizer.step()
    return optimizer.state[weight]["exp_avg"].item()


def decay(question):
    """Steps of torch's with gradients of 0."""
    values = question.values
    return stepped(values["w"], [0.0] * values["n"], values["lr"], values["decay"]).item()


def wrong_line(question):
    """The line whose repair goes where torch goes, for gradients of either sign and any size."""
    grads = [torch.tensor([3.0, -0.01, 0.0]) * scale for scale in (1.0, -2.0, 5.0)]

    def works(code):
        w, m, v = torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64), 0.0, 0.0
        for t, grad in enumerate(grads, 1):
            w, m, v = run(code)["adamw"](w, grad.double(), m, v, t, 0.01, 0.5)
        return torch.allclose(w, stepped([1.0, -2.0, 3.0], grads, 0.01, 0.5), atol=1e-7)

    return wrong_line_of(question, works)
