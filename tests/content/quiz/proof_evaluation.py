"""The questions on evaluation, answered token by token."""

from __future__ import annotations

import torch
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of
from torch.nn import functional as F  # noqa: N812 - its usual name


def by_tokens(question):
    """The mean of a list with a loss for each token."""
    values = question.values
    losses = torch.tensor([values["a"]] * values["first"] + [values["b"]] * values["second"], dtype=torch.float64)
    return losses.mean().item()


def stop_at(question):
    """The first evaluation at which the smallest of the last losses is not below the smallest before."""
    losses, patience = question.values["losses"], question.values["patience"]
    running = torch.tensor(losses).cummin(0).values
    return 1 + min(n for n in range(patience, len(losses)) if running[n] == running[n - patience])


def error(question):
    """The deviation of many means of as many losses as there are tokens: by the variance of a sum."""
    values = question.values
    n = values["batches"] * values["tokens"]
    variance = torch.full((n,), values["deviation"] ** 2, dtype=torch.float64).sum() / n**2
    return variance.sqrt().item()


class Guesser(torch.nn.Module):
    """A table of logits with dropout behind; it says whether autograd recorded a run."""

    def __init__(self):
        super().__init__()
        self.table, self.dropout, self.recorded = torch.nn.Embedding(6, 6), torch.nn.Dropout(0.5), False

    def forward(self, ids):
        logits = self.dropout(self.table(ids))
        self.recorded = self.recorded or logits.requires_grad
        return logits


def wrong_line(question):
    """The line whose repair gives the mean over all tokens, and leaves the mode and autograd alone."""
    torch.manual_seed(0)
    batches = [(torch.randint(6, shape), torch.randint(6, shape)) for shape in ((3, 5), (1, 2), (2, 4))]
    batches[0][1][1:] = -100
    model = Guesser()
    with torch.no_grad():
        every = [F.cross_entropy(model.table(x).mT, y, reduction="none")[y != -100] for x, y in batches]
    expected = torch.cat(every).mean().item()

    def works(code):
        for training in (True, False):
            model.train(training).recorded = False
            found = run(code, F=F)["evaluate"](model, batches)
            if abs(found - expected) > 1e-5 or model.training is not training or model.recorded:
                return False
        return True

    return wrong_line_of(question, works)
