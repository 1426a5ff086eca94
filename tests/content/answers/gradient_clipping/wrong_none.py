# wrong: cl-none-crashes
import math

import torch


def clip_gradients(grads, max_norm):
    norm = torch.stack([g.norm() for g in grads]).norm()
    scale = min(1.0, max_norm / (norm + 1e-6))
    return [g * scale for g in grads], norm
