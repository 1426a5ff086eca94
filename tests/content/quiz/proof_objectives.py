"""The questions on what a model is trained to do, answered by torch and by counting."""

from __future__ import annotations

from itertools import product

import torch
from torch.nn.functional import cross_entropy

DOUBLE = torch.float64


def predictions(question):
    """Targets that are not −100, in both ways of training."""
    texts, length = question.values["B"], question.values["T"]
    ids = torch.arange(texts * length).view(texts, length)
    causal, masked = torch.full_like(ids, -100), torch.full_like(ids, -100)
    causal[:, :-1] = ids[:, 1:]
    order = torch.rand(texts, length).argsort(dim=1)
    masked.scatter_(1, order[:, : round(0.15 * length)], 7)
    return float((causal != -100).sum() - (masked != -100).sum())


def masking(question):
    """The masking itself, on ids that all differ from [MASK] and from the random ones."""
    count, asked = question.values["N"], question.values["asked"]
    ids = torch.arange(count)
    order = torch.randperm(count)[: round(0.15 * count)]
    mask, swapped, _ = order.split([round(0.8 * len(order)), round(0.1 * len(order)), round(0.1 * len(order))])
    inputs, targets = ids.clone(), torch.full_like(ids, -100)
    targets[order] = ids[order]
    inputs[mask], inputs[swapped] = -1, count + ids[swapped]
    counted = {
        "How many tokens does the loss count?": targets != -100,
        "How many tokens of the input are [MASK]?": inputs == -1,
        "At how many places does the loss count, though the input shows no [MASK] there?": (targets != -100)
        & (inputs != -1),
        "At how many places does the input show the token of the text?": inputs == ids,
    }
    return float(counted[asked].sum())


def masked_perplexity(question):
    """Real logits of two classes that give ten chosen tokens their losses."""
    values = question.values
    right = -torch.tensor([values["mask"]] * 8 + [values["random"], values["stay"]], dtype=DOUBLE)
    logits = torch.stack([right, (-right.exp()).log1p()], dim=-1)
    return cross_entropy(logits, torch.zeros(10, dtype=torch.long)).exp().item()


def floor(question):
    """All sentences of the language, and how often each word stands in each context: their logarithms are logits."""
    values = question.values
    a, b, k, m, n = (values[name] for name in "abkmn")
    rows = [[*drawn, *drawn, *[0] * (n - 2 * a - b)] for drawn in product(*[range(k)] * a)]
    rows = [[*row, *free] for row in rows for free in product(*[range(m)] * b)]
    text = torch.tensor(rows)
    losses = []
    for place in range(n):
        seen = torch.cat([text[:, :place], text[:, place + 1 :] if values["both"] else text[:, :0]], dim=1)
        context = seen.unique(dim=0, return_inverse=True)[1] if seen.size(1) else torch.zeros(len(text)).long()
        counts = torch.zeros(int(context.max()) + 1, max(k, m), dtype=DOUBLE)
        counts.index_put_((context, text[:, place]), torch.ones(len(text), dtype=DOUBLE), accumulate=True)
        losses.append(cross_entropy(counts.log()[context], text[:, place]))
    return torch.stack(losses).mean().item()


def contrastive(question):
    """Vectors on a circle with these cosines, and the cross-entropy of their similarities."""
    values = question.values
    angles = torch.tensor(values["sims"], dtype=DOUBLE).acos()
    candidates = torch.stack([angles.cos(), angles.sin()], dim=-1)
    logits = candidates @ torch.tensor([1.0, 0.0], dtype=DOUBLE) / values["tau"]
    return cross_entropy(logits, torch.tensor(values["place"])).item()
