# wrong: cl-none-dropped
import math

import torch


def clip_gradients(grads, max_norm):
    grads = [g for g in grads if g is not None]
    norm = torch.cat([g.flatten() for g in grads]).norm()
    scale = (max_norm / norm).clamp(max=1)
    return [g * scale for g in grads], norm
