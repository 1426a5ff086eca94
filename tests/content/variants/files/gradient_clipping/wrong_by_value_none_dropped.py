# wrong: cl-by-value, cl-none-dropped
import torch


def clip_gradients(grads, max_norm):
    kept = [g for g in grads if g is not None]
    norm = torch.cat([g.flatten() for g in kept]).norm()
    return [g.clamp(-max_norm, max_norm) for g in kept], norm
