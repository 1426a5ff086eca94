# wrong: lr-floor-as-max
import math


def lr_at(step, max_lr, min_lr, warmup, total):
    if step <= warmup:
        return max_lr * step / warmup
    if step >= total:
        return min_lr
    s = (step - warmup) / (total - warmup)
    return max(min_lr, max_lr * 0.5 * (1 + math.cos(math.pi * s)))
