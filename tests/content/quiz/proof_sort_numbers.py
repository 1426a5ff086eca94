"""The questions on an encoder that sorts, answered by trying."""

from __future__ import annotations

from itertools import permutations

import torch


def share_of_orders(question):
    """All different orders of the list, written down; the model copies, and is right on those that are sorted."""
    numbers = question.values["listed"]
    orders = set(permutations(numbers))
    return sum(list(order) == sorted(numbers) for order in orders) / len(orders)


def least_loss(question):
    """Logits that are the same at each place, trained until they are the best against the sorted list."""
    answers = torch.tensor(question.values["listed"]).sort().values
    logits = torch.zeros(10, requires_grad=True)
    optimizer = torch.optim.LBFGS([logits], max_iter=200, line_search_fn="strong_wolfe")

    def loss():
        optimizer.zero_grad()
        found = torch.nn.functional.cross_entropy(logits.expand(len(answers), 10), answers)
        found.backward()
        return found

    optimizer.step(loss)
    return loss().item()


def reordered(question):
    """The answers take the way of their numbers."""
    values = question.values
    return torch.tensor(values["answers"])[values["order"]][values["place"]].item()
