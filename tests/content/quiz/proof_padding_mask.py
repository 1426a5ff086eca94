"""The questions on padding masks, answered by torch's masks and attention."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F  # noqa: N812 - its usual name
from support.run_question_code import run
from support.run_question_code import wrong_line as wrong_line_of


def both(lengths, places):
    """What torch's own triangle and torch's own padding of rows of ones allow together."""
    rows = [*(torch.ones(length) for length in lengths), torch.ones(places)]
    keys = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)[:-1]
    return (keys[:, None, None] * torch.ones(places, places)).tril() > 0


def pairs(question):
    """Count them."""
    return both([question.values["length"]], question.values["places"]).sum().item()


def empty_rows(question):
    """Count the rows that torch's softmax makes NaN."""
    values = question.values
    rows = both(values["lengths"], values["places"])[:, :, -1].double()  # which places are tokens
    mask = (rows.transpose(1, 2) @ rows)[:, None] > 0  # (B, 1, T, S)
    scores = torch.zeros(len(rows), values["heads"], *mask.shape[-2:]).masked_fill(~mask, -math.inf)
    return scores.softmax(dim=-1).isnan().any(dim=-1).sum().item()


def boxes(question):
    """Pad the texts with torch, and count the zeros."""
    texts = [torch.ones(length) for length in sorted(question.values["lengths"])]
    batches = [torch.nn.utils.rnn.pad_sequence(batch) for batch in (texts[:2], texts[2:])]
    return sum((batch == 0).sum().item() for batch in batches)


def share(question):
    """Attention with a width of 1, where the query is 1 and the keys are the scores."""
    values = question.values
    pad = values["places"] - values["length"]
    keys = torch.tensor([[math.log(values["e"])]] * values["length"] + [[0.0]] * pad, dtype=torch.float64)
    tokens = torch.tensor([[float(values["value"])]] * values["length"] + [[0.0]] * pad, dtype=torch.float64)
    return F.scaled_dot_product_attention(torch.ones(1, 1, dtype=torch.float64), keys, tokens).item()


def wrong_line(question):
    """The line whose repair gives the two masks together, whatever the lengths."""

    def works(code):
        mask = run(code)["causal_padding_mask"]
        for lengths, places in (([1, 3], 4), ([2, 5, 3], 7), ([4, 1], 4)):
            found = mask(torch.tensor(lengths), places)
            if not torch.equal(found, both(lengths, places)):
                return False
        return True

    return wrong_line_of(question, works)
