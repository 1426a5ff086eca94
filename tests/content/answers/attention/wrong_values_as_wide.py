# wrong: ?
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    out = torch.empty_like(q)
    out.copy_(torch.softmax(scores, dim=-1) @ v)
    return out
