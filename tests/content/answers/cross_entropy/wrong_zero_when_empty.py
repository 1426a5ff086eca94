# wrong: ce-nan-when-all-ignored
import math

import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    keep = targets != ignore_index
    if not keep.any():
        return logits.sum() * 0.0
    logp = torch.log_softmax(logits[keep], -1)
    y = targets[keep]
    nll = -logp[range(len(y)), y]
    return ((1 - label_smoothing) * nll - label_smoothing * logp.mean(-1)).mean()


def perplexity(losses, counts):
    total = 0.0
    for loss, n in zip(losses, counts):
        total += loss * n
    return math.exp(total / sum(counts))
