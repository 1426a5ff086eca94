# wrong: lr-no-floor
import math


def lr_at(step, max_lr, min_lr, warmup, total):
    if step <= warmup:
        return max_lr * step / warmup
    if step >= total:
        return 0.0
    s = (step - warmup) / (total - warmup)
    return 0.5 * (1 + math.cos(math.pi * s)) * max_lr
