# wrong: cl-sum-of-norms
import math

import torch


def clip_gradients(grads, max_norm):
    norm = sum(g.norm() for g in grads if g is not None)
    scale = max_norm / norm if norm > max_norm else 1.0
    return [g if g is None else g * scale for g in grads], norm
