# wrong: at-mask-inverted
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores - 1e9 * mask
    return torch.softmax(scores, dim=-1) @ v
