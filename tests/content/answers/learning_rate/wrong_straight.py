# wrong: lr-linear
import math


def lr_at(step, max_lr, min_lr, warmup, total):
    if step <= warmup:
        return max_lr * step / warmup
    s = min(1.0, (step - warmup) / (total - warmup))
    return max_lr - s * (max_lr - min_lr)
