# wrong: lr-from-zero, lr-jump
import math


def lr_at(step, max_lr, min_lr, warmup, total):
    if step <= warmup:
        return max_lr * (step - 1) / warmup
    if step >= total:
        return min_lr
    s = (step - warmup) / total
    return min_lr + 0.5 * (1 + math.cos(math.pi * s)) * (max_lr - min_lr)
