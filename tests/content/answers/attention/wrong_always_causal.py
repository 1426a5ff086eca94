# wrong: at-always-causal
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    T, S = scores.shape[-2:]
    scores = scores.masked_fill(torch.triu(torch.ones(T, S), diagonal=1).bool(), float("-inf"))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v
