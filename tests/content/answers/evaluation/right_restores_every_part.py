# right: remembers the mode of every submodule
import torch
from torch import nn


def evaluate(model, batches):
    modes = {m: m.training for m in model.modules()}
    model.eval()
    loss_fn = nn.CrossEntropyLoss(ignore_index=-100, reduction="none")
    total, count = 0.0, 0
    for x, y in iter(batches):
        with torch.set_grad_enabled(False):
            losses = loss_fn(model(x).permute(0, 2, 1), y)
        total += losses.double().sum()
        count += y.ne(-100).sum()
    for m, mode in modes.items():
        m.training = mode
    return float(total / count)


def should_stop(losses, patience):
    return len(losses) > patience and min(losses[-patience:]) >= min(losses[:-patience])
