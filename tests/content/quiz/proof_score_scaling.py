"""The questions on the scale of scores, answered by torch."""

from __future__ import annotations

import torch


def at_the_start(question):
    """The root of the mean square over all draws, from the traces of what each factor's expectation is."""
    values = question.values
    rows = torch.full((values["d_head"], values["D"]), float(values["sigma"]), dtype=torch.float64)
    per_component = rows.square().sum(dim=1)  # of q, and of k
    return (per_component * per_component).sum().sqrt().item()


def entropy(question):
    """The entropy of torch's distribution with these probabilities."""
    return torch.special.entr(torch.tensor(question.values["listed"], dtype=torch.float64)).sum().item()


def jacobian(question):
    """The norm of autograd's Jacobian."""
    scores = torch.tensor([question.values["a"], question.values["rest"]], dtype=torch.float64).log()
    return torch.autograd.functional.jacobian(lambda s: s.softmax(dim=0), scores).norm().item()


def way_back(question):
    """Autograd's gradients of both heads, the first brought to the length that is said."""
    torch.manual_seed(question.attempt)
    k, v, q = (torch.randn(*shape, dtype=torch.float64) for shape in ((9, 4), (9, 4), (4,)))
    lengths = []
    for scale, query in ((question.values["scale"], q.clone()), (1.0, question.values["scale"] * q)):
        query.requires_grad_()
        (torch.softmax(scale * (k @ query), dim=0) @ v).sum().backward()
        lengths.append(query.grad.norm())
    return (question.values["length"] * lengths[1] / lengths[0]).item()
