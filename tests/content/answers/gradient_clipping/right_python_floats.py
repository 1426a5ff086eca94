# right: a sum in Python
import math

import torch


def clip_gradients(grads, max_norm):
    total = 0.0
    for g in grads:
        if g is not None:
            total += (g.double() ** 2).sum().item()
    norm = math.sqrt(total)
    factor = 1.0 if norm <= max_norm else max_norm / norm
    return [None if g is None else g * factor for g in grads], norm
