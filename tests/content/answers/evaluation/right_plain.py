# right: in the manner of a training script
import torch
import torch.nn.functional as F


@torch.no_grad()
def evaluate(model, batches):
    was_training = model.training
    model.eval()
    nll, n_tokens = 0.0, 0
    for x, y in batches:
        logits = model(x)
        nll += F.cross_entropy(logits.reshape(-1, logits.size(-1)), y.reshape(-1), reduction="sum").item()
        n_tokens += int((y != -100).sum())
    if was_training:
        model.train()
    return nll / n_tokens


def should_stop(losses, patience):
    best = float("inf")
    bad = 0
    for loss in losses:
        if loss < best:
            best, bad = loss, 0
        else:
            bad += 1
    return bad >= patience
