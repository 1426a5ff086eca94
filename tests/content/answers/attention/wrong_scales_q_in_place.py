# wrong: at-in-place
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    q *= q.size(-1) ** -0.5
    scores = q @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v
