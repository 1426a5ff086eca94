# wrong: cl-max-abs
import math

import torch


def clip_gradients(grads, max_norm):
    norm = max(g.abs().max() for g in grads if g is not None)
    scale = torch.clamp(max_norm / norm, max=1.0)
    return [g if g is None else g * scale for g in grads], norm
