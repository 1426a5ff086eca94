# wrong: lr-warmup-in-cosine
import math


def lr_at(step, max_lr, min_lr, warmup, total):
    if step <= warmup:
        return max_lr * step / warmup
    if step >= total:
        return min_lr
    return min_lr + (max_lr - min_lr) * 0.5 * (1 + math.cos(math.pi * step / total))
