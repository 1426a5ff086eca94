"""The learning rate, the reference: straight up, half a cosine down."""

import math


def lr_at(step, max_lr, min_lr, warmup, total):
    """Give the rate of step number `step`, which counts from 1."""
    if step <= warmup:  # step: up
        return max_lr * step / warmup  # step: rise
    if step >= total:  # step: over
        return min_lr  # step: rest
    done = (step - warmup) / (total - warmup)  # 0 ... 1  # step: done
    share = 0.5 * (1 + math.cos(math.pi * done))  # 1 ... 0  # step: share
    return min_lr + share * (max_lr - min_lr)  # step: fall
