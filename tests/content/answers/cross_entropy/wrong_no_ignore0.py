# wrong: ce-class-0-left-out
import math

import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    V = logits.shape[-1]
    logits = logits.reshape(-1, V)
    targets = targets.reshape(-1)
    keep = (targets != ignore_index) & (targets != 0)
    logits, targets = logits[keep], targets[keep]
    logp = torch.log_softmax(logits, dim=-1)
    nll = -logp.gather(-1, targets[:, None]).squeeze(-1)
    smooth = -logp.mean(dim=-1)
    return ((1 - label_smoothing) * nll + label_smoothing * smooth).mean()


def perplexity(losses, counts):
    total = sum(l * n for l, n in zip(losses, counts))
    return math.exp(total / sum(counts))
