# wrong: ev-mean-by-rows, es-not-in-a-row
import torch
import torch.nn.functional as F


@torch.no_grad()
def evaluate(model, batches):
    mode = model.training
    model.eval()
    s, n = 0.0, 0
    for x, y in batches:
        if (y != -100).any():
            s += F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item() * x.size(0)
        n += x.size(0)
    model.train(mode)
    return s / n


def should_stop(losses, patience):
    best, bad = float("inf"), 0
    for loss in losses:
        if loss < best:
            best = loss
        else:
            bad += 1
    return bad >= patience
