# wrong: lr-full-period
import math


def lr_at(step, max_lr, min_lr, warmup, total):
    if step <= warmup:
        return max_lr * step / warmup
    if step >= total:
        return min_lr
    s = (step - warmup) / (total - warmup)
    return min_lr + (max_lr - min_lr) * (1 + math.cos(2 * math.pi * s)) / 2
