# wrong: ev-generator-twice, es-best-of-all
import torch
import torch.nn.functional as F


@torch.no_grad()
def evaluate(model, batches):
    tokens = sum(int((y != -100).sum()) for _, y in batches)
    mode = model.training
    model.eval()
    loss = sum(F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum").item() for x, y in batches)
    model.train(mode)
    return float(loss / tokens)


def should_stop(losses, patience):
    if len(losses) <= patience:
        return False
    best = min(losses)
    return all(loss >= best for loss in losses[-patience:])
