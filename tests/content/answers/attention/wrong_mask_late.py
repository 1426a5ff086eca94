# wrong: at-mask-late
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    w = (q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5).softmax(-1)
    if mask is not None:
        w = w.masked_fill(~mask, 0.0)
        w = w / (w.sum(-1, keepdim=True) + 1e-9)
    return w @ v
