"""The questions on writing multi-head attention, answered by torch."""

from __future__ import annotations

import re

import torch
from support.run_question_code import run, wrong_line
from torch import nn


def splits(question):
    """Run each way of splitting, and find what it gives."""
    x = run(question.code)["x"]
    rights = [option.text for option in question.options]
    results = [eval(code, {"torch": torch, "x": x}) for code in question.details["lefts"]]
    return [rights.index(str(result[0, question.values["head"]].tolist())) for result in results]


def views(question):
    """Try each line."""
    space = run(question.code)
    refused = []
    for place, option in enumerate(question.options):
        try:
            eval(option.text, space)
        except RuntimeError:
            refused.append(place)
    return refused


def trace(question):
    """Run it, and look."""
    space = run(question.code)
    return [tuple(space[name].shape) for name in question.details["blanks"]]


def weight(question):
    """What torch's own multi-head attention says, with the identity for all matrices."""
    x = run(question.code)["x"].double()[None]
    attention = nn.MultiheadAttention(x.shape[-1], question.values["H"], bias=False, batch_first=True).double()
    eye = torch.eye(x.shape[-1], dtype=torch.float64)
    attention.load_state_dict({"in_proj_weight": eye.repeat(3, 1), "out_proj.weight": eye})
    weights = attention(x, x, x, average_attn_weights=False)[1][0]
    return weights[question.values["head"], 0, 1].item()


def _right_split(x, H):  # noqa: N803 - the lesson's letters
    return torch.stack(x.chunk(H, dim=-1), dim=1)


def _right_merge(heads):
    return torch.cat(heads.unbind(1), dim=-1)


def _shows(what, T, H, d):  # noqa: N803 - the lesson's letters
    """Whether random numbers of these sizes tell the mistake from the right result."""
    B, x, heads = 2, torch.randn(2, T, H * d), torch.randn(2, H, T, d)  # noqa: N806
    names = {"B": B, "T": T, "H": H, "d_head": d, "x": x, "heads": heads}
    call = re.search(r"returns (.*)", what)
    if call is None:
        scores = heads @ heads.transpose(-2, -1)
        got, right = (scores / (H * d) ** 0.5).softmax(dim=-1), (scores / d**0.5).softmax(dim=-1)
    else:
        right = _right_split(x, H) if what.startswith("split") else _right_merge(heads)
        got = eval(call[1], names)
    assert got.shape == right.shape
    return not torch.allclose(got, right)


def blind_tests(question):
    """Make the test."""
    torch.manual_seed(question.attempt)
    sizes = [map(int, re.findall(r"\d+", option.text)) for option in question.options]
    return [place for place, each in enumerate(sizes) if _shows(question.values["what"], *each)]


def in_python(question):
    """The line whose repair makes split and merge give what torch gives, and nothing of the input change."""
    x = torch.arange(18).view(3, 6)

    def works(code):
        space = run(code)
        for H in (2, 3, 6):  # noqa: N806 - the lesson's letters
            heads = _right_split(x[None], H)[0].tolist()
            given = [[list(row) for row in head] for head in heads]
            if space["split"](x.tolist(), H) != heads or space["merge"](given) != x.tolist() or given != heads:
                return False
        return True

    return wrong_line(question, works)
