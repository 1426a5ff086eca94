# wrong: cl-by-value
import math

import torch


def clip_gradients(grads, max_norm):
    norm = torch.stack([g.norm() for g in grads if g is not None]).norm()
    return [g if g is None else torch.clamp(g, min=-max_norm, max=max_norm) for g in grads], norm
