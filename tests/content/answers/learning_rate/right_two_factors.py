# right: the smaller of two
import math


def lr_at(step, max_lr, min_lr, warmup, total):
    progress = min(max(step - warmup, 0) / (total - warmup), 1.0)
    cosine = min_lr + (max_lr - min_lr) * math.cos(progress * math.pi / 2) ** 2
    return cosine * min(1.0, step / max(1, warmup)) if step < warmup else cosine
