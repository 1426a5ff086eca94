# wrong: cl-in-place
import math

import torch


def clip_gradients(grads, max_norm):
    norm = torch.stack([g.norm() for g in grads if g is not None]).norm()
    if norm > max_norm:
        for g in grads:
            if g is not None:
                g *= max_norm / norm
    return grads, norm
