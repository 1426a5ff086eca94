# wrong: at-scale-wrong-axis, at-mask-inverted
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    n = k.shape[-2]
    dots = q @ k.transpose(-1, -2) / math.sqrt(n)
    if mask is not None:
        dots[mask.expand_as(dots)] = float("-inf")
    alpha = torch.softmax(dots, dim=-1)
    return alpha @ v
