# wrong: ev-mean-of-means, ev-mode-left
import torch
import torch.nn.functional as F


def evaluate(model, batches):
    model.eval()
    losses = []
    with torch.no_grad():
        for x, y in batches:
            if (y == -100).all():
                losses.append(0.0)
                continue
            losses.append(F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item())
    return sum(losses) / len(losses)


def should_stop(losses, patience):
    return len(losses) > patience and min(losses[-patience:]) >= min(losses[:-patience])
