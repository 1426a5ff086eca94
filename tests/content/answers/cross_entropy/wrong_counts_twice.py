# wrong: ?
import math

import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp = torch.log_softmax(logits, -1)
    keep = targets != ignore_index
    nll = -logp.gather(-1, targets.masked_fill(~keep, 0).unsqueeze(-1)).squeeze(-1)
    focal = (1 - torch.exp(-nll)) ** 2 * nll
    return ((1 - label_smoothing) * focal[keep] - label_smoothing * logp.mean(-1)[keep]).mean()


def perplexity(losses, counts):
    total = 0.0
    for loss, n in zip(losses, counts):
        total += loss * n
    return math.exp(total / sum(counts))
