"""The questions on a language with a known floor, answered by torch."""

from __future__ import annotations

import torch


def floor(question):
    """The mean entropy of the places, as torch has it of a distribution."""
    places = [torch.distributions.Categorical(logits=torch.zeros(k)) for k in question.values["listed"]]
    return torch.stack([place.entropy() for place in places]).mean().item()


def first_loss(question):
    """The loss of logits that are all 0."""
    vocab = question.values["vocab"]
    return torch.nn.functional.cross_entropy(torch.zeros(3, vocab), torch.tensor([0, 1, vocab - 1])).item()
