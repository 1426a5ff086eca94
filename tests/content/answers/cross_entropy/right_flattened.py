# right: flatten everything, throw out what is ignored, then go on with two axes
import math

import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    V = logits.shape[-1]
    x = logits.reshape(-1, V)
    y = targets.reshape(-1)
    keep = y != ignore_index
    x, y = x[keep], y[keep]
    m = x.max(dim=1, keepdim=True).values if len(x) else x
    logZ = torch.log(torch.exp(x - m).sum(1, keepdim=True)) + m
    logp = x - logZ
    target_part = logp[torch.arange(len(y), device=y.device), y].sum()
    uniform_part = logp.sum() / V
    return -((1 - label_smoothing) * target_part + label_smoothing * uniform_part) / len(y) if len(y) else x.sum() * math.nan


def perplexity(losses, counts):
    weights = [c / sum(counts) for c in counts]
    return math.exp(sum(w * l for w, l in zip(weights, losses)))
