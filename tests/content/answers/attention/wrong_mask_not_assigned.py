# wrong: at-mask-ignored
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if mask is not None:
        scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v
