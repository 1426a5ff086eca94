# wrong: at-k-reshaped
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    *lead, S, d = k.shape
    scores = q @ k.contiguous().view(*lead, d, S) / d**0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v
