# wrong: lr-division-by-zero
import math


def lr_at(step, max_lr, min_lr, warmup, total):
    part = step / warmup
    if part <= 1:
        return max_lr * part
    if step >= total:
        return min_lr
    s = (step - warmup) / (total - warmup)
    return min_lr + 0.5 * (1 + math.cos(math.pi * s)) * (max_lr - min_lr)
