# right: a tiny number in the denominator, a factor of at most 1
import math

import torch


def clip_gradients(grads, max_norm):
    present = [g for g in grads if g is not None]
    total_norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in present]))
    coef = torch.clamp(max_norm / (total_norm + 1e-6), max=1.0)
    return [g if g is None else g.clone().mul_(coef) for g in grads], total_norm
