"""The questions on induction heads, answered by going through the text, and by the lesson's own instrument."""

from __future__ import annotations

import torch
from support.course_files import load


def where(question):
    """The place after the only other one that has the same token."""
    text = question.values["text"].split()
    (former,) = (
        i for i, token in enumerate(text) if token == question.values["token"] and i < question.values["query"]
    )
    return former + 1


def induction_score(weights, question):
    return load("solutions/analysis/induction.py").induction_score(weights, question.values["period"]).item()


def score(question):
    """The instrument on the table."""
    return induction_score(torch.tensor(question.values["rows"], dtype=torch.float64), question)


def alike(question):
    """The instrument on the softmax of equal scores."""
    size = question.values["tokens"]
    hidden = torch.ones(size, size, dtype=torch.bool).triu(1)
    scores = torch.zeros(size, size, dtype=torch.float64).masked_fill(hidden, float("-inf"))
    return induction_score(scores.softmax(-1), question)
