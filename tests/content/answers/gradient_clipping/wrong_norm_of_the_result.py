# wrong: cl-returns-clipped-norm
import math

import torch


def clip_gradients(grads, max_norm):
    norm = torch.stack([g.norm() for g in grads if g is not None]).norm()
    scale = torch.clamp(max_norm / norm, max=1.0)
    out = [g if g is None else g * scale for g in grads]
    return out, torch.stack([g.norm() for g in out if g is not None]).norm()
