"""The questions on LayerNorm and RMSNorm, answered by torch."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of


def normalise(question, x):
    """The norm that the question names, with torch."""
    norm = F.layer_norm if question.values["name"] == "LayerNorm" else F.rms_norm
    return norm(x, x.shape[-1:], eps=1e-12)


def by_hand(question):
    """Torch's norm of the token."""
    token = torch.tensor(question.values["token"], dtype=torch.float64)
    return normalise(question, token)[question.values["place"]].item()


def affine(question):
    """Torch's norm of a token whose first feature it brings to y, with weight and bias."""
    y, gamma, beta = (float(question.values[name]) for name in ("y", "gamma", "beta"))
    rest = torch.linspace(-1, 1, 8, dtype=torch.float64)
    rest = (rest - rest.mean()) / rest.std(correction=0)
    # eight features whose mean is −y/8, and whose mean square together with y² is 1
    rest = -y / 8 + rest * ((9 - y * y) / 8 - y * y / 64) ** 0.5
    token = torch.cat([torch.tensor([y], dtype=torch.float64), rest])
    weight, bias = torch.full_like(token, gamma), torch.full_like(token, beta)
    return F.layer_norm(token, (9,), weight, bias, eps=0.0)[0].item()


def survives(question):
    """Each changed token, normalised again."""
    torch.manual_seed(0)
    tokens = torch.randn(4, 5, dtype=torch.float64) + torch.arange(4.0).unsqueeze(1)
    found = []
    for place, option in enumerate(question.options):
        changed = torch.stack([eval(option.text, {"x": x}) for x in tokens])
        found += [place] * bool(torch.allclose(normalise(question, changed), normalise(question, tokens)))
    return found


def tiny(question):
    """Torch's norm of the token."""
    s, eps = question.values["s"], question.values["eps"]
    return F.layer_norm(torch.tensor([s, -s, s, -s], dtype=torch.float64), (4,), eps=eps)[0].item()


def statistics(question):
    """Run it."""
    space = run(question.code)
    return [tuple(space[name].shape) for name in question.details["blanks"]]


def wrong_line(question):
    """The line whose repair gives torch's norm, for tokens of every size and place."""
    torch.manual_seed(0)
    x, weight, bias = torch.randn(3, 4, 5, dtype=torch.float64), torch.randn(5).double(), torch.randn(5).double()

    def works(code):
        norm = run(code)["layer_norm"]
        tokens = (x, x + 100, 1e-3 * x, x[:1], torch.ones_like(x))
        return all(torch.allclose(norm(each, weight, bias), F.layer_norm(each, (5,), weight, bias)) for each in tokens)

    return wrong_line_of(question, works)
