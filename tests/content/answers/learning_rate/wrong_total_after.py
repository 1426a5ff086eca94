# wrong: lr-jump
import math


def lr_at(step, max_lr, min_lr, warmup, total):
    if step <= warmup and warmup > 0:
        return max_lr * step / warmup
    if step > total + warmup:
        return min_lr
    decay_ratio = (step - warmup) / total
    coeff = 0.5 * (1.0 + math.cos(math.pi * decay_ratio))
    return min_lr + coeff * (max_lr - min_lr)
