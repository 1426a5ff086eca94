"""The questions on activations and gates, answered by torch."""

from __future__ import annotations

import torch
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of
from torch.nn import functional as F  # noqa: N812  (the name that everybody uses)


def gelu_by_hand(question):
    """Torch's GELU, as exactly as the table of four decimals is."""
    z = torch.tensor(question.values["z"], dtype=torch.float64)
    answer = F.gelu(z).item()
    return answer if abs(answer - question.answer) > 2e-4 else question.answer


def gated(question):
    """Torch's SiLU."""
    values = question.values
    return (F.silu(torch.tensor(float(values["gate"]), dtype=torch.float64)) * values["up"]).item()


def same_numbers(question):
    """The width at which three matrices have as many numbers as two."""
    width, hidden = question.values["D"], question.values["d_ff"]
    two = sum(torch.nn.Linear(*sizes, bias=False).weight.numel() for sizes in ((width, hidden), (hidden, width)))
    return two / (3 * width)


def shapes(question):
    """Run it."""
    space = run(question.code)
    return [tuple(space[name].shape) for name in question.details["blanks"]]


def wrong_line(question):
    """The line whose repair gives torch's values."""
    torch.manual_seed(0)
    x, w_gate, w_up, w_down = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 4), torch.randn(4, 5)
    expected = F.linear(F.silu(F.linear(x, w_gate)) * F.linear(x, w_up), w_down)

    def works(code):
        space = run(code)
        right = torch.allclose(space["gelu"](x), F.gelu(x), atol=1e-6)
        return right and torch.allclose(space["swiglu"](x, w_gate, w_up, w_down), expected, atol=1e-5)

    return wrong_line_of(question, works)
