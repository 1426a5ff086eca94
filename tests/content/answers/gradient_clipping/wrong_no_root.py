# wrong: cl-no-root
import torch


def clip_gradients(grads, max_norm):
    norms = [torch.linalg.vector_norm(g) for g in grads if g is not None]
    total_norm = torch.linalg.vector_norm(torch.stack(norms))
    total_norm = total_norm ** 2
    clip_coef = torch.clamp(max_norm / (total_norm + 1e-6), max=1.0)
    return [None if g is None else g * clip_coef for g in grads], total_norm
