# wrong: cl-per-tensor
import math

import torch


def clip_gradients(grads, max_norm):
    norm = torch.stack([g.norm() for g in grads if g is not None]).norm()
    out = []
    for g in grads:
        if g is not None and g.norm() > max_norm:
            g = g * (max_norm / g.norm())
        out.append(g)
    return out, norm
