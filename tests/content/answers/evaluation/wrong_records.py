# wrong: ev-grad-recorded, es-tie-is-progress
import torch.nn.functional as F


def evaluate(model, batches):
    was = model.training
    model.eval()
    s, n = 0.0, 0
    for x, y in batches:
        out = model(x)
        s += F.cross_entropy(out.view(-1, out.shape[-1]), y.reshape(-1), reduction="sum").item()
        n += (y != -100).sum().item()
    model.train(was)
    return s / n


def should_stop(losses, patience):
    best, wait = float("inf"), 0
    for loss in losses:
        if loss <= best:
            best, wait = loss, 0
        else:
            wait += 1
    return wait >= patience
