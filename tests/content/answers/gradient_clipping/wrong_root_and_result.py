# wrong: cl-no-root, cl-none-dropped
import math

import torch


def clip_gradients(grads, max_norm):
    kept = [g for g in grads if g is not None]
    norm = sum(g.pow(2).sum() for g in kept)
    scale = torch.clamp(max_norm / norm, max=1.0)
    return [g * scale for g in kept], norm
