# wrong: ev-train-mode
import torch
import torch.nn.functional as F


def evaluate(model, batches):
    total = 0.0
    count = 0
    with torch.no_grad():
        for x, y in batches:
            total += F.cross_entropy(model(x).transpose(1, 2), y, reduction="sum").item()
            count += (y != -100).sum().item()
    return total / count


def should_stop(losses, patience):
    return len(losses) > patience and min(losses[-patience:]) >= min(losses[:-patience])
