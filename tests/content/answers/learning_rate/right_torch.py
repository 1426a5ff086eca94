# right: tensors
import math


def lr_at(step, max_lr, min_lr, warmup, total):
    import torch

    if step < warmup:
        return torch.tensor(max_lr * step / warmup, dtype=torch.float64)
    s = torch.clamp(torch.tensor((step - warmup) / (total - warmup), dtype=torch.float64), max=1.0)
    return min_lr + (max_lr - min_lr) * (1 + torch.cos(torch.pi * s)) / 2
