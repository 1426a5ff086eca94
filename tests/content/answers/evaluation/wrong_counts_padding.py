# wrong: ev-ignored-counted, es-off-by-one
import torch
import torch.nn.functional as F


@torch.no_grad()
def evaluate(model, batches):
    was = model.training
    model.eval()
    s, n = 0.0, 0
    for x, y in batches:
        s += F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum").item()
        n += y.shape[0] * y.shape[1]
    model.train(was)
    return s / n


def should_stop(losses, patience):
    best, bad = float("inf"), 0
    for loss in losses:
        bad = 0 if loss < best else bad + 1
        best = min(best, loss)
    return bad > patience
