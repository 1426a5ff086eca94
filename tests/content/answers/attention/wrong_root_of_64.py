# wrong: at-scale-constant
import torch

D_K = 64


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.mT / D_K**0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, -1) @ v
