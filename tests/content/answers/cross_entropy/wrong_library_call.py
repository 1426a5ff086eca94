# wrong: forbidden-call
import math

import torch.nn.functional as F


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=ignore_index, label_smoothing=label_smoothing)


def perplexity(losses, counts):
    total = 0.0
    for loss, n in zip(losses, counts):
        total += loss * n
    return math.exp(total / sum(counts))
