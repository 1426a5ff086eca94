# wrong: ce-fixed-ignore-index
import math

import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp = logits - torch.logsumexp(logits, -1, keepdim=True)
    real = targets >= 0
    idx = targets.clamp_min(0).unsqueeze(-1)
    loss = -logp.gather(-1, idx).squeeze(-1)
    if label_smoothing > 0:
        loss = (1 - label_smoothing) * loss + label_smoothing * (-logp).mean(-1)
    return (loss * real).sum() / real.sum()


def perplexity(losses, counts):
    total = 0.0
    for loss, n in zip(losses, counts):
        total += loss * n
    return math.exp(total / sum(counts))
