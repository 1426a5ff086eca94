"""The questions on multi-head attention, answered by torch."""

from __future__ import annotations

import ast

import torch
from torch import nn

from grader.quiz.expressions import Expression


def count(*modules):
    return sum(each.numel() for module in modules for each in module.parameters())


# --- what it costs ----------------------------------------------------------------------------------------------------


def parameters(question):
    values = question.values
    return count(nn.MultiheadAttention(values["d"], values["h"], bias=values["biases"], device="meta"))


def full_width(question):
    """The parameters of both kinds, counted."""
    d, h = question.values["d"], question.values["h"]
    usual = nn.MultiheadAttention(d, h, bias=False, device="meta")
    wide = [nn.Linear(d, h * d, bias=False, device="meta") for _ in range(3)]
    return count(*wide, nn.Linear(h * d, d, bias=False, device="meta")) / count(usual)


def cost_formula(question):
    """The formula, if it counts the parameters of real layers of several sizes."""
    values = question.values
    formula = Expression(question.answer, question.details["symbols"])
    for d, h, w, g in ((6, 4, 3, 2), (5, 6, 2, 3), (7, 2, 4, 1)):
        sets = {"H": h, "1": 1, "g": g}[values["sets"]]
        widths = ((d, h * w), (d, sets * w), (d, sets * w), (h * w, d))
        layers = [nn.Linear(wide, out, bias=values["biases"], device="meta") for wide, out in widths]
        if formula.evaluate({"D": d, "H": h, "w": w, "g": g}) != count(*layers):
            return f"not {question.answer}"
    return question.answer


def divisors(question):
    """Try each number of heads."""
    right = []
    for place, option in enumerate(question.options):
        try:
            nn.MultiheadAttention(question.values["d"], int(option.text.removeprefix("H = ")), device="meta")
        except AssertionError:
            continue
        right.append(place)
    return right


# --- what a head sees -------------------------------------------------------------------------------------------------


def which_heads(question):
    """Change the feature or the row, and see which heads' queries change."""
    values = question.values
    layer, x = nn.Linear(values["d"], values["d"], bias=False), torch.rand(values["d"]) + 0.1
    with torch.no_grad():
        layer.weight.uniform_(0.1, 1.0)
        before = layer(x)
        (x if values["of_token"] else layer.weight)[values["place"]] += 1.0
        moved = (layer(x) - before).view(values["h"], values["d_head"]).abs().amax(dim=1) > 1e-3
    heads = moved.nonzero().flatten().tolist()
    everywhere = "In both heads." if values["h"] == 2 else f"In all {values['h']} heads."
    text = {values["h"]: everywhere, 0: "In none of them.", 1: f"In head {heads[0]} only."}[len(heads)]
    return [option.text for option in question.options].index(text)


def query_entries(question):
    """The entries of W_Q with a gradient from this head's query."""
    values = question.values
    w_q = torch.randn(values["d"], values["d"], requires_grad=True)
    x = torch.rand(values["d"]) + 0.1
    nn.functional.linear(x, w_q).view(values["h"], values["d_head"])[values["head"]].sum().backward()
    return int((w_q.grad != 0).sum())


def split(question):
    """Run the code, and read what it prints."""
    printed = []
    exec(question.code, {"torch": torch, "print": printed.append})
    return str(printed[0])


# --- tables and shapes ------------------------------------------------------------------------------------------------


def table_entries(question):
    values = question.values
    attention = nn.MultiheadAttention(values["d"], values["h"], batch_first=True, device="meta")
    x = torch.empty(values["b"], values["n"], values["d"], device="meta")
    return attention(x, x, x, average_attn_weights=False)[1].numel()


def rank(question):
    """The rank for random tokens and maps, which is the highest there is with probability 1."""
    values = question.values
    torch.manual_seed(question.attempt)
    n, d, d_head = (values[name] for name in ("n", "d", "d_head"))
    x, w_q, w_k = (torch.randn(size, dtype=torch.float64) for size in ((n, d), (d, d_head), (d, d_head)))
    return int(torch.linalg.matrix_rank((x @ w_q) @ (x @ w_k).T))


def shapes(question):
    """Run the code, and look."""
    space = {"torch": torch}
    exec(question.code, space)
    return [tuple(space[name].shape) for name in ("q", "weights", "mixed", "out")]


# --- the output projection --------------------------------------------------------------------------------------------


def output_feature(question):
    """Both heads' parts through W_O as a linear layer, added up."""
    values = question.values
    w_o = nn.Linear(4, 4, bias=False)
    with torch.no_grad():
        w_o.weight[values["feature"]] = torch.tensor(ast.literal_eval(values["row"]), dtype=torch.float)
        joined = torch.tensor(ast.literal_eval(values["joined"]), dtype=torch.float)
        parts = [w_o(joined * torch.tensor(kept)) for kept in ((1, 1, 0, 0), (0, 0, 1, 1))]
    return sum(parts)[values["feature"]].item()


def planted_mistake(question):
    """The line that must be replaced for the code to give what torch's own multi-head attention gives."""
    torch.manual_seed(0)
    x, attention = torch.randn(2, 5, 12), nn.MultiheadAttention(12, 3, bias=False, batch_first=True)
    weights = (*attention.in_proj_weight.chunk(3), attention.out_proj.weight)
    wanted = attention(x, x, x)[0]

    def gives(lines):
        space = {"torch": torch}
        exec("\n".join(lines), space)
        try:
            got = space["multi_head"](x, *weights, 3)
        except (RuntimeError, NameError):  # sizes that do not fit; a name that the replaced line should have made
            return False
        return got is not None and got.shape == wanted.shape and torch.allclose(got, wanted, atol=1e-5)

    lines = question.code.split("\n")
    fixed = f"    {question.details['fix']}"
    cures = [place for place in range(1, len(lines)) if gives([*lines[:place], fixed, *lines[place + 1 :]])]
    assert not gives(lines) and len(cures) == 1, cures
    return cures[0] + 1
