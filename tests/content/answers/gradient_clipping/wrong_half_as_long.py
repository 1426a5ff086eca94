# wrong: ?
import math

import torch


def clip_gradients(grads, max_norm):
    norm = torch.stack([g.norm() for g in grads if g is not None]).norm()
    scale = 0.5 * max_norm / norm if norm > max_norm else 1.0
    return [g if g is None else g * scale for g in grads], norm
