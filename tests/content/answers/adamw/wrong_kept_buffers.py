# wrong: ?
import torch

_buffers = {}


def adamw_step(param, grad, m, v, t, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
    """Take step number `t` of AdamW."""
    key = param.shape, param.dtype
    moved, first, second = _buffers.setdefault(key, [torch.empty_like(param) for _ in range(3)])
    first.copy_(betas[0] * m + (1 - betas[0]) * grad)
    second.copy_(betas[1] * v + (1 - betas[1]) * grad**2)
    size = (second / (1 - betas[1] ** t)).sqrt() + eps
    moved.copy_(param - lr * weight_decay * param - lr * first / (1 - betas[0] ** t) / size)
    return moved, first, second
