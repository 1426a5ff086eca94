"""The questions on sampling, answered by torch on the distributions that they show."""

from __future__ import annotations

import torch
from support.course_files import load
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of


def reference():
    """The lesson's own functions."""
    return load("solutions/models/sampling.py")


def both_cuts(question):
    """The tokens with a probability above 0."""
    values = question.values
    logits = torch.tensor([values["shown"]], dtype=torch.float64).log()
    return int((reference().next_token_probs(logits, top_k=values["k"], top_p=values["p"]) > 0).sum())


def which_token(question):
    """torch's own search in the sums."""
    sums = torch.tensor(question.values["shown"], dtype=torch.float64).cumsum(dim=0)
    return int(torch.searchsorted(sums, torch.tensor(question.values["u"], dtype=torch.float64), right=True))


def which_temperature(question):
    """The temperature, of a fine grid, at which the ratio is nearest to what is asked."""
    values = question.values
    grid = torch.arange(0.1, 6.0, 0.0001, dtype=torch.float64)
    logits = torch.tensor([values["before"], 1.0], dtype=torch.float64).log()
    p = (logits / grid.unsqueeze(1)).softmax(dim=1)
    return grid[((p[:, 0] / p[:, 1]).log() - torch.tensor(float(values["after"])).log()).abs().argmin()].item()


def accident(question):
    """One minus the chance that a binomial number is 0."""
    values = question.values
    count = torch.distributions.Binomial(values["length"], torch.tensor(values["percent"] / 100, dtype=torch.float64))
    return 1 - count.log_prob(torch.tensor(0.0)).exp().item()


def wrong_line(question):
    """The line whose repair draws what the reference draws, for three rows and many u."""
    logits = torch.tensor([[0.1, 2.0, 1.2, 0.6], [1.0, 0.4, 1.4, 0.2], [0.3, 0.5, 0.1, 5.0]], dtype=torch.float64)

    def works(code):
        draw = run(code)["draw"]
        for t, p in ((1.0, 0.6), (2.0, 0.75), (0.5, 0.5)):
            probs = reference().next_token_probs(logits, t, top_p=p)
            for u in torch.linspace(0.0, 0.99, 34, dtype=torch.float64):
                every = u.expand(3)
                if not torch.equal(draw(logits, t, p, every), reference().sample_token(probs, every)):
                    return False
        return True

    return wrong_line_of(question, works)
