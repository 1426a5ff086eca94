# wrong: at-global-max
import math

import torch


def softmax(x):
    """Numerically stable softmax over the last axis."""
    e = torch.exp(x - torch.max(x))
    return e / e.sum(dim=-1, keepdim=True)


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    return torch.matmul(softmax(scores), v)
