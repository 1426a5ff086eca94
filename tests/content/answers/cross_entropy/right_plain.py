# right: the way most write it, with log_softmax and gather
import math

import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp = torch.log_softmax(logits, dim=-1)
    mask = targets != ignore_index
    safe = torch.where(mask, targets, torch.zeros_like(targets))
    nll = -logp.gather(-1, safe[..., None])[..., 0]
    smooth = -logp.mean(-1)
    loss = (1 - label_smoothing) * nll + label_smoothing * smooth
    return (loss * mask).sum() / mask.sum()


def perplexity(losses, counts):
    total = 0.0
    for loss, n in zip(losses, counts):
        total += loss * n
    return math.exp(total / sum(counts))
