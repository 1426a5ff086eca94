# wrong: ce-log-of-softmax
import math

import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    probs = torch.softmax(logits, dim=-1)
    logp = torch.log(probs + 1e-8)
    mask = targets != ignore_index
    nll = -logp.gather(-1, targets.masked_fill(~mask, 0).unsqueeze(-1)).squeeze(-1)
    full = (1 - label_smoothing) * nll - label_smoothing * logp.mean(-1)
    return full[mask].mean()


def perplexity(losses, counts):
    total = 0.0
    for loss, n in zip(losses, counts):
        total += loss * n
    return math.exp(total / sum(counts))
