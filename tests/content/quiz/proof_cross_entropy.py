"""The questions on cross-entropy and perplexity, answered by torch."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from support.run_question_code import printed, run
from support.run_question_code import wrong_line as wrong_line_of


def left_out(question):
    """Torch's loss of two classes whose logits give these losses, padded with -100."""
    rows = [[float(each) for each in question.values[name].split(", ")] for name in ("first", "second")]
    logits = torch.zeros(2, question.values["T"], 2, dtype=torch.float64)
    targets = torch.full((2, question.values["T"]), -100)
    for row, losses in enumerate(rows):
        for place, loss in enumerate(losses):
            p = torch.tensor(-loss, dtype=torch.float64).exp()
            logits[row, place] = torch.stack([p, 1 - p]).log()
            targets[row, place] = 0
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten()).item()


def smoothed(question):
    """The cross-entropy of the smoothed target with the stated log-probabilities."""
    values = question.values
    log_p = -torch.tensor([values["a"]] + [values["b"]] * values["others"], dtype=torch.float64)
    logits = torch.randn(5, values["V"], dtype=torch.float64)
    share = torch.full_like(log_p, values["epsilon"] / values["V"])
    share[0] += 1 - values["epsilon"]
    mine = -(logits.log_softmax(-1) * share).sum(-1).mean()
    theirs = F.cross_entropy(logits, torch.zeros(5, dtype=torch.int64), label_smoothing=values["epsilon"])
    assert torch.allclose(mine, theirs)  # torch's smoothed target is this one
    return -(log_p * share).sum().item()


def batches(question):
    """Every token with its own loss, and one perplexity."""
    values = question.values
    losses = torch.cat(
        [torch.full((values[n],), values[m], dtype=torch.float64) for n, m in (("n1", "l1"), ("n2", "l2"))]
    )
    return losses.mean().exp().item()


def vanished(question):
    """Run it."""
    return " ".join(printed(question.code).split())


def wrong_line(question):
    """The line whose repair gives torch's loss, with padding and without."""
    torch.manual_seed(0)
    logits, targets = torch.randn(2, 3, 5), torch.tensor([[0, 4, -100], [3, -100, -100]])

    def works(code):
        loss = run(code)["loss"]
        return all(
            torch.allclose(loss(logits, each), F.cross_entropy(logits.flatten(0, 1), each.flatten()))
            for each in (targets, targets.clamp(min=0), targets.clamp(min=1))
        )

    return wrong_line_of(question, works)
