# wrong: ev-first-batch, es-last-not-best
import torch
import torch.nn.functional as F


def evaluate(model, batches):
    mode = model.training
    model.eval()
    total = count = 0
    with torch.no_grad():
        for x, y in batches:
            total += F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum").item()
            count += (y != -100).sum().item()
            model.train(mode)
            return total / count


def should_stop(losses, patience):
    if len(losses) < patience + 1:
        return False
    before = losses[-(patience + 1)]
    return all(loss >= before for loss in losses[-patience:])
