"""The questions on writing a transformer block, answered by torch."""

from __future__ import annotations

import ast
from copy import deepcopy

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from support.run_question_code import printed, run, wrong_line
from torch import nn

# --- what a module knows of its parts ---------------------------------------------------------------------------------


def names(question):
    """Build it, and look the names up."""
    known = run(question.code)["Net"]().state_dict()
    return [place for place, option in enumerate(question.options) if option.text in known]


def registered(question):
    """Run it."""
    return printed(question.code, deepcopy=deepcopy)


# --- shapes and statistics --------------------------------------------------------------------------------------------


def weight_shapes(question):
    """Run it, and look."""
    space = run(question.code)
    return [tuple(eval(blank, space).shape) for blank in question.details["blanks"]]


def statistics(question):
    """The means that torch's norms hand back themselves."""
    values = question.values
    B, T, D = (values[name] for name in "BTD")  # noqa: N806 - the lesson's letters
    x = torch.randn(B, T, D)
    module = eval(values["call"].rpartition("(x")[0], {"nn": nn})
    if isinstance(module, nn.LayerNorm):
        return torch.native_layer_norm(x, module.normalized_shape, None, None, 1e-5)[1].numel()
    return torch.native_batch_norm(x.transpose(1, 2), None, None, None, None, True, 0.1, 1e-5)[1].numel()


# --- two features by hand ---------------------------------------------------------------------------------------------


class Pair(nn.Module):
    """A pre-LN block of one token, with its mistakes on demand."""

    def __init__(self, c, mistake):
        super().__init__()
        self.c, self.mistake = c, mistake
        self.norm1, self.norm2 = nn.LayerNorm(2), nn.LayerNorm(2)

    def forward(self, x):
        m, n1, n2 = self.mistake, self.norm1, self.norm2
        ffn = F.relu if m == "The network has relu, not gelu." else F.gelu
        if m == "The norms are those of post-LN.":
            h = n1(x + self.c * x)
            return n2(h + ffn(h))
        if m == "Both sums add to the normed copy.":
            h = n1(x) + self.c * n1(x)
            return n2(h) + ffn(n2(h))
        h = self.c * n1(x) if m == "The first residual is missing." else x + self.c * n1(x)
        said = ffn(n2(x)) if m == "The network reads x, not h." else ffn(n2(h))
        if m == "The second residual is missing.":
            return said
        return (x if m == "The second sum takes x, not h." else h) + said


def which_mistake(question):
    """The only offered mistake that gives the output, to its two decimals."""
    values = question.values
    x = torch.tensor(ast.literal_eval(values["x"]), dtype=torch.float64)
    got = torch.tensor(ast.literal_eval(values["got"]), dtype=torch.float64)
    fits = []
    for place, option in enumerate(question.options):
        made = Pair(values["c"], option.text).double()(x)
        fits += [place] * torch.allclose(made, got, atol=0.0052, rtol=0)
    wanted = torch.tensor(ast.literal_eval(values["wanted"]), dtype=torch.float64)
    assert len(fits) == 1
    assert torch.allclose(Pair(values["c"], "").double()(x), wanted, atol=0.0052, rtol=0)
    return fits[0]


# --- mistakes ---------------------------------------------------------------------------------------------------------

FOUND: dict[str, int] = {}  # by the code that is shown: a few codes come up again and again, and each is run many times


class Block(nn.Module):
    """A pre-LN block of one head."""

    def __init__(self, D):  # noqa: N803 - the lesson's letter
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.qkv, self.ffn = nn.Linear(D, 3 * D), nn.Linear(D, D)

    def forward(self, x, mask=None):
        x = x + F.scaled_dot_product_attention(*self.qkv(self.norm1(x)).chunk(3, dim=-1), attn_mask=mask)
        return x + F.gelu(self.ffn(self.norm2(x)))


def stack(question):
    """The line whose repair makes a stack that keeps its blocks apart and runs them in order, with mask and norm."""
    D, count, T = 4, 3, 5  # noqa: N806 - the lesson's letters
    mask = torch.ones(T, T, dtype=torch.bool).tril()

    def works(code):
        torch.manual_seed(0)
        model = run(code, Block=Block)["Stack"](D, count)
        expected = x = torch.randn(2, T, D)
        for block in model.blocks:
            expected = block(expected, mask)
        expected = F.layer_norm(expected, (D,), model.norm.weight, model.norm.bias)
        got = model(x, mask)
        got.square().sum().backward()
        learned = list(model.parameters())
        numbers = count * sum(p.numel() for p in Block(D).parameters()) + 2 * D
        return (
            torch.allclose(got, expected, atol=1e-6)
            and sum(p.numel() for p in learned) == numbers
            and all(p.grad is not None for p in learned)
        )

    if question.code not in FOUND:
        FOUND[question.code] = wrong_line(question, works)
    return FOUND[question.code]
