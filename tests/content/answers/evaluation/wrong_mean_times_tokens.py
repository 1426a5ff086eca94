# wrong: ev-empty-batch, es-last-only
import torch
import torch.nn.functional as F


@torch.no_grad()
def evaluate(model, batches):
    mode = model.training
    model.eval()
    s, n = 0.0, 0
    for x, y in batches:
        k = (y != -100).sum().item()
        s += F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item() * k
        n += k
    model.train(mode)
    return s / n


def should_stop(losses, patience):
    if len(losses) <= patience:
        return False
    return losses[-1] >= min(losses[:-patience])
