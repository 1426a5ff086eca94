# right: a norm of norms and an if
import math

import torch


def clip_gradients(grads, max_norm):
    norms = [g.norm() for g in grads if g is not None]
    norm = torch.stack(norms).norm()
    if norm > max_norm:
        scale = max_norm / norm
        grads = [g * scale if g is not None else None for g in grads]
    return grads, norm
