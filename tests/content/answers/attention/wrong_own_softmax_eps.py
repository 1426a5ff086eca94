# wrong: at-softmax-overflow, at-mask-late
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    e = torch.exp(q @ k.transpose(-2, -1) / q.size(-1) ** 0.5)
    if mask is not None:
        e = e * mask
    return e / (e.sum(dim=-1, keepdim=True) + 1e-9) @ v
