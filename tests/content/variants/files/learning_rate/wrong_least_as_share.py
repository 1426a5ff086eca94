# wrong: lr-floor-as-share
import torch


def lr_at(step, max_lr, min_lr, warmup, total):
    if step <= warmup:
        scale = step / warmup
    else:
        s = min(1.0, (step - warmup) / (total - warmup))
        cosine = 0.5 * (1 + torch.cos(torch.tensor(torch.pi * s, dtype=torch.float64)))
        scale = (1 - min_lr) * cosine + min_lr
    return float(max_lr * scale)
