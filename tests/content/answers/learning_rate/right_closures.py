# right: three functions
import math


def lr_at(step, max_lr, min_lr, warmup, total):
    def rise(t):
        return t / warmup * max_lr

    def fall(t):
        angle = math.pi * (t - warmup) / (total - warmup)
        return (max_lr + min_lr) / 2 + (max_lr - min_lr) / 2 * math.cos(angle)

    return rise(step) if step < warmup else fall(min(step, total))
