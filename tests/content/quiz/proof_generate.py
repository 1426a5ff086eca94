"""The questions on generating, answered by running the loop with a model that notes what it reads."""

from __future__ import annotations

import torch
from support.course_files import load
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of


class Noting(torch.nn.Module):
    """Predicts from all that it reads, refuses more than `most` tokens, and notes what it was given, and how."""

    def __init__(self, most: int = 10**9) -> None:
        super().__init__()
        self.most, self.read, self.ways = most, [], []
        self.scale = torch.nn.Parameter(torch.ones(()))

    def forward(self, ids):
        assert ids.shape[1] <= self.most
        logits = torch.sin(self.scale * ids.cumsum(dim=1).unsqueeze(-1) * torch.arange(1, 12))
        self.read.append(ids)
        self.ways.append((self.training, logits.requires_grad))
        return logits


def continued(length, new, most, batch=1, generate=None):
    """The model after continuing texts of this length, and what came back."""
    model = Noting(most)
    ids = torch.arange(batch * length).view(batch, length) % 11
    generate = generate or load("solutions/models/generate.py").generate
    return model, generate(model, ids, new, most, lambda logits: logits[:, :9].argmax(dim=-1))


def shapes(question):
    """What the code makes in that round."""
    values = question.values
    model, _ = continued(values["length"], values["done"] + 1, values["most"], values["batch"])
    ids = torch.zeros(values["batch"], values["now"], dtype=torch.int64)
    names = {"ids": ids, "pick": lambda logits: logits.argmax(-1),
             "model": lambda window: torch.zeros(*window.shape, values["vocab"])}  # fmt: skip
    space = run(question.code, **names)
    assert model.read[-1].shape == space["window"].shape
    return [tuple(space[name].shape) for name in ("window", "logits", "last", "ids")]


def forgotten(question):
    """The first pass whose input does not begin with the prompt."""
    values = question.values
    model, _ = continued(values["length"], values["most"] + 3, values["most"])
    return next(i for i, read in enumerate(model.read, 1) if read.shape[1] < values["length"] + i - 1)


def tokens_read(question):
    """The tokens that the model noted."""
    values = question.values
    return sum(read.numel() for read in continued(values["length"], values["new"], values["most"])[0].read)


def wrong_line(question):
    """The line whose repair gives the reference's texts, modes and graphs."""

    def works(code):
        generate = run(code)["generate"]
        for mode in (True, False):
            seen = []
            for version in (generate, load("solutions/models/generate.py").generate):
                model = Noting(6).train(mode)
                text = version(model, torch.tensor([[1, 5, 3], [3, 5, 3]]), 7, 6, lambda x: x[:, :9].argmax(dim=-1))
                seen.append((text.tolist(), model.training, model.ways, [read.tolist() for read in model.read]))
            if seen[0] != seen[1]:
                return False
        picked = generate(Noting(), torch.tensor([[1, 2]]), 2, 9, lambda logits: torch.tensor([7]))
        return picked.tolist() == [[1, 2, 7, 7]]

    return wrong_line_of(question, works)
