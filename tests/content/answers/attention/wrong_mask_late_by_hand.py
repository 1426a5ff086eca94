# wrong: at-mask-late
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    e = torch.exp(s - s.amax(-1, keepdim=True))
    if mask is not None:
        e = e * mask
    return e / e.sum(-1, keepdim=True) @ v
