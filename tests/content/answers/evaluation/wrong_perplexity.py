# wrong: ev-perplexity-returned, es-any-rise
import math

import torch
import torch.nn.functional as F


@torch.no_grad()
def evaluate(model, batches):
    was = model.training
    model.eval()
    s = n = 0
    for x, y in batches:
        s += F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum").item()
        n += (y != -100).sum().item()
    model.train(was)
    return math.exp(s / n)


def should_stop(losses, patience):
    if len(losses) < 2:
        return False
    return losses[-1] >= losses[-2]
