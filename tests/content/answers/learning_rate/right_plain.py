# right: nanoGPT's get_lr, counting from 1
import math


def lr_at(step, max_lr, min_lr, warmup, total):
    if step <= warmup:
        return max_lr * step / warmup
    if step > total:
        return min_lr
    decay_ratio = (step - warmup) / (total - warmup)
    coeff = 0.5 * (1.0 + math.cos(math.pi * decay_ratio))
    return min_lr + coeff * (max_lr - min_lr)
