# wrong: at-argmax
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    best = scores.argmax(dim=-1)
    return torch.nn.functional.one_hot(best, k.size(-2)).to(v.dtype) @ v
