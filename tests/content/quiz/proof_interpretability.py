"""The questions on what can be read off a trained model, answered by torch."""

from __future__ import annotations

import torch


def contribution(question):
    """Values of the given lengths in random directions; the longest term of the sum."""
    values = question.values
    torch.manual_seed(question.attempt)
    v = torch.nn.functional.normalize(torch.randn(4, 8), dim=-1) * torch.tensor(values["lengths"])[:, None]
    terms = torch.tensor(values["weights"])[:, None] * v
    return _option(question, f"token {int(terms.norm(dim=-1).argmax())}")


def rollout(question):
    layers = []
    for name in ("first", "second"):
        weight = question.values[name]
        layers.append((torch.tensor([[1.0, 0.0], [weight, 1 - weight]], dtype=torch.float64) + torch.eye(2)) / 2)
    return torch.linalg.multi_dot([layers[1], layers[0]])[1, 0].item()


def ablations(question):
    """By the rises of the loss: do they add up, and are they more than chance?"""
    base, *without = torch.tensor(question.values["losses"], dtype=torch.float64)
    a, b, both = (each - base for each in without)
    if both > 2 * (a + b) and both > 0.2:
        return _option(question, "each can do the other's work")
    if max(a, b, both) < 0.025:
        return _option(question, "neither does much here")
    assert torch.isclose(both, a + b, atol=0.03)
    assert torch.minimum(a, b) > 0.1
    return _option(question, "each does work of its own")


def probe_gain(question):
    """Counted on 1,000 sentences."""
    values = question.values
    total = 1000
    guess_wrong = torch.ones(total).index_fill(0, torch.arange(round(total * values["base"])), 0.0)
    probe_wrong = torch.ones(total).index_fill(0, torch.arange(round(total * values["accuracy"])), 0.0)
    return (1 - probe_wrong.sum() / guess_wrong.sum()).item()


def entropy(question):
    weights = torch.tensor(question.values["weights"], dtype=torch.float64)
    return (torch.special.entr(weights).sum() / torch.log(torch.tensor(2.0, dtype=torch.float64))).item()


def head_role(question):
    rows = torch.tensor(question.values["rows"])
    assert torch.allclose(rows.sum(dim=-1), torch.ones(len(rows)), atol=1e-4)
    looks, at = rows.argmax(dim=-1), torch.arange(len(rows))
    roles = {
        "the token just before it": (at - 1).clamp(min=0), "the token just after it": (at + 1).clamp(max=len(rows) - 1),
        "itself": at, "token 0": torch.zeros_like(at),
    }  # fmt: skip
    return _option(question, next(role for role, keys in roles.items() if torch.equal(looks, keys)))


def same_output(question):
    values = question.values
    v = torch.tensor([values["v1"], values["v2"], values["v3"]], dtype=torch.float64)
    wanted = torch.tensor(values["weights"], dtype=torch.float64) @ v
    rows = torch.tensor([[float(a) for a in option.text.split(", ")] for option in question.options]).double()
    assert torch.allclose(rows.sum(dim=-1), torch.ones(len(rows), dtype=torch.float64))
    return [place for place, row in enumerate(rows) if torch.isclose(row @ v, wanted, atol=1e-6)]


def _option(question, text):
    return [option.text for option in question.options].index(text)


def lens(question):
    """The rows of the output layer as one linear layer, of whose two outputs the difference is taken."""
    values = question.values
    head = torch.nn.Linear(3, 2, bias=False, dtype=torch.float64)
    with torch.no_grad():
        head.weight.copy_(torch.tensor([values["u"], values["w"]]))
        yes, no = head(torch.tensor(values["s"], dtype=torch.float64))
    return (yes - no).item()


def neuron(question):
    """A network of one neuron: the logit with what it writes, less the logit without."""
    values = {
        name: torch.tensor(value, dtype=torch.float64) for name, value in question.values.items() if name in "kvxu"
    }
    written = torch.relu(values["x"] @ values["k"][:, None]) @ values["v"][None]
    return ((values["x"] + written) @ values["u"] - values["x"] @ values["u"]).item()
