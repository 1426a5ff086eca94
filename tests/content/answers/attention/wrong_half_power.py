# wrong: at-scale-dk, at-half
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-1, -2) / (k.shape[-1] ** 1 / 2)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(dim=-1) @ v
