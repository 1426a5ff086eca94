# right: the smoothed distribution written out, and its product with the log-probabilities
import numpy as np
import torch
import torch.nn.functional as F


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    """q is (1 - eps) * onehot + eps / V."""
    valid = targets.ne(ignore_index)
    V = logits.size(-1)
    q = F.one_hot(targets * valid, V).to(logits.dtype)
    q = q.mul(1 - label_smoothing).add(label_smoothing / V)
    losses = -(q * F.log_softmax(logits, -1)).sum(-1)
    return losses[valid].mean()


def perplexity(losses, counts):
    return float(np.exp(np.average(losses, weights=counts)))
