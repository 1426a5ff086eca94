# wrong: ce-no-shift, pp-mean-of-exp
import math

import torch


def cross_entropy(logits, targets, ignore_index=-100, label_smoothing=0.0):
    exp = torch.exp(logits)
    logp = logits - torch.log(exp.sum(-1, keepdim=True))
    keep = targets != ignore_index
    nll = -logp.gather(-1, targets.where(keep, 0).unsqueeze(-1)).squeeze(-1)
    return ((1 - label_smoothing) * nll[keep] - label_smoothing * logp.mean(-1)[keep]).mean()


def perplexity(losses, counts):
    return sum(math.exp(l) for l in losses) / len(losses)
