"""The questions on GPT, answered by torch and the lessons' own references."""

from __future__ import annotations

import torch
from support.course_files import load
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of
from torch.nn.functional import cross_entropy


def model(*sizes):
    """The reference, with numbers that are all random and none large."""
    made = load("solutions/models/gpt.py").GPT(*sizes)
    generator = torch.Generator().manual_seed(0)
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.5, generator=generator)
    return made


def parameters(question):
    """The reference's parameters, counted; the shared one is there once."""
    values = question.values
    sizes = values["V"], values["longest"], values["D"], 1, values["L"], values["d_ff"]
    return sum(parameter.numel() for parameter in model(*sizes).parameters())


def shapes(question):
    """Run it, and look."""
    space = run(question.code)
    return [tuple(space[blank].shape) for blank in question.details["blanks"]]


def moved_logits(question):
    """The leak test on the reference."""
    values = question.values
    ids = torch.arange(values["T"]).remainder(7)[None]
    changed = ids.clone()
    changed[0, values["place"]] = 7
    gpt = model(8, values["T"], 8, 2, values["L"], 16)
    with torch.no_grad():
        return int((gpt(ids) != gpt(changed)).any(-1).sum())


def wrong_line(question):
    """The line whose repair makes it the reference: in values, in what learns, and after a step."""
    right = model(7, 6, 8, 2, 2, 10)
    ids = torch.tensor([[1, 5, 0, 5, 6], [2, 2, 3, 4, 1], [6, 0, 1, 3, 2]])[:, :5]

    def works(code):
        made = run(code, TransformerBlock=load("solutions/core/block.py").TransformerBlock)["GPT"](7, 6, 8, 2, 2, 10)
        made.load_state_dict(right.state_dict())
        logits = made(ids)
        if logits.shape != (3, 5, 7) or not torch.allclose(logits, right(ids), atol=1e-5):
            return False
        cross_entropy(logits.flatten(0, 1), ids.flatten()).backward()
        torch.optim.SGD(made.parameters(), lr=0.1).step()
        return made.norm.weight.grad is not None and torch.equal(made.tok.weight, made.head.weight)

    return wrong_line_of(question, works)
