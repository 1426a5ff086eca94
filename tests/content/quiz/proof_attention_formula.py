"""The questions on the attention formula, answered by torch."""

from __future__ import annotations

import ast

import torch
from torch.nn import functional


def score_variance(question):
    """Exact: each component takes ±√variance, and all the combinations of a pair of components are averaged."""
    values = question.values
    signs = torch.tensor([-1.0, 1.0], dtype=torch.float64)
    products = torch.outer(signs * values["var_q"] ** 0.5, signs * values["var_k"] ** 0.5)
    return float(products.square().mean() - products.mean() ** 2) * values["d_k"]


def row_weight(question):
    """A query and keys that have these dot products, and the identity as values: torch's attention gives the row."""
    values = question.values
    d_k = values["d_k"]
    query = torch.zeros(1, d_k, dtype=torch.float64)
    query[0, 0] = 1
    keys = torch.randn(3, d_k, dtype=torch.float64)
    keys[:, 0] = (
        torch.tensor([values["root"] * power for power in ast.literal_eval(values["powers"])]) * torch.tensor(2.0).log()
    )
    row = functional.scaled_dot_product_attention(query, keys, torch.eye(3, dtype=torch.float64))
    return row[0, values["which"]].item()


def causal_weights(question):
    """A table is possible if the softmax of some scores gives it: of its own logarithms, if of any."""
    allowed = torch.ones(3, 3, dtype=torch.bool).tril()
    right = []
    for place, option in enumerate(question.options):
        table = torch.tensor(ast.literal_eval(option.text), dtype=torch.float64)
        made = table.log().nan_to_num(0.0, neginf=0.0).masked_fill(~allowed, -torch.inf).softmax(dim=-1)
        if torch.allclose(made, table):
            right.append(place)
    return right


def planted_mistake(question):
    """The line that must be replaced for the code to give what torch's own attention gives."""
    q, k, v = torch.randn(2, 3, 5), torch.randn(2, 4, 5), torch.randn(2, 4, 6)
    mask = torch.tensor([[True, True, False, True], [False, True, True, True], [True, False, True, False]])
    mask = torch.stack([mask, ~mask | torch.eye(3, 4, dtype=torch.bool)])
    wanted = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    def gives(lines):
        space = {"torch": torch}
        exec("\n".join(lines), space)
        try:
            got = space["attend"](q, k, v, mask)
        except (RuntimeError, NameError):  # sizes that do not fit; a name that the replaced line should have made
            return False
        return got is not None and got.shape == wanted.shape and torch.allclose(got, wanted, atol=1e-5)

    lines = question.code.split("\n")
    fixed = f"    {question.details['fix']}"
    cures = [place for place in range(1, len(lines)) if gives([*lines[:place], fixed, *lines[place + 1 :]])]
    assert not gives(lines) and len(cures) == 1, cures
    return cures[0] + 1


def shapes(question):
    """Run the code, and look."""
    space = {"torch": torch}
    exec(question.code, space)
    return [tuple(space[name].shape) for name in ("Q", "scores", "out")]


def output_component(question):
    values = question.values
    weights, v = (torch.tensor(ast.literal_eval(values[name]), dtype=torch.float64) for name in ("weights", "v"))
    return (weights @ v)[values["column"]].item()


def jacobian_entry(question):
    """Autograd, at scores that give this row."""
    values = question.values
    scores = torch.tensor(values["p"], dtype=torch.float64).log()
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(dim=-1), scores)
    return jacobian[values["i"], values["j"]].item()


def score_entry(question):
    """Run the code, and read what it prints."""
    printed = []
    exec(question.code, {"torch": torch, "print": printed.append})
    return str(printed[0])


def without_maps(question):
    """What the code prints."""
    return score_entry(question)
