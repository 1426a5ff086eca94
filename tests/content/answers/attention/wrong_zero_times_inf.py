# wrong: at-mask-zero-times-infinity
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores + (1 - mask.float()) * float("-inf")
    return torch.softmax(scores, dim=-1) @ v
