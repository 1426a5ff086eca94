# wrong: ce-smoothing-v-minus-1
import math

import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    lprobs = logits.log_softmax(-1)
    V = logits.size(-1)
    keep = targets != ignore_index
    true_dist = torch.full_like(lprobs, label_smoothing / (V - 1))
    true_dist.scatter_(-1, targets.masked_fill(~keep, 0).unsqueeze(-1), 1 - label_smoothing)
    loss = -(true_dist * lprobs).sum(-1)
    return loss[keep].mean()


def perplexity(losses, counts):
    total = 0.0
    for loss, n in zip(losses, counts):
        total += loss * n
    return math.exp(total / sum(counts))
