# wrong: lr-rises-after-total
import math


def lr_at(step, max_lr, min_lr, warmup, total):
    if step <= warmup:
        return max_lr * step / warmup
    s = (step - warmup) / (total - warmup)
    return min_lr + 0.5 * (1 + math.cos(math.pi * s)) * (max_lr - min_lr)
