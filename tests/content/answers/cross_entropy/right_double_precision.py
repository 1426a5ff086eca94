# right: computed in float64 and handed back in the dtype of the logits, batch by batch
import math

import torch


def _log_probs(x):
    x = x - x.detach().amax(dim=-1, keepdim=True)
    return x - x.exp().sum(dim=-1, keepdim=True).log()


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp = _log_probs(logits.double())
    wanted = targets.clone()
    dropped = wanted == ignore_index
    wanted[dropped] = 0
    picked = torch.take_along_dim(logp, wanted.unsqueeze(-1), dim=-1).squeeze(-1)
    per_token = -(picked * (1.0 - label_smoothing) + logp.mean(-1) * label_smoothing)
    per_token = per_token.masked_fill(dropped, 0.0)
    return (per_token.sum() / (~dropped).sum()).to(logits.dtype)


def perplexity(losses, counts):
    total = 0.0
    for loss, n in zip(losses, counts):
        total += loss * n
    return math.exp(total / sum(counts))
