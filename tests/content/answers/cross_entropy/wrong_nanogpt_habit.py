# wrong: ce-mean-over-all
import math

import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logprobs = torch.log_softmax(logits, -1)
    pad = targets == ignore_index
    t = targets.clone()
    t[pad] = 0
    nll = -torch.gather(logprobs, -1, t.unsqueeze(-1)).squeeze(-1)
    loss = nll * (1 - label_smoothing) + label_smoothing * (-logprobs.mean(-1))
    loss[pad] = 0.0
    return loss.mean()


def perplexity(losses, counts):
    total = 0.0
    for loss, n in zip(losses, counts):
        total += loss * n
    return math.exp(total / sum(counts))
