# wrong: at-half
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    bias = torch.zeros(q.size(-2), k.size(-2))
    if mask is not None:
        bias = bias.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(q @ k.transpose(-2, -1) / q.size(-1) ** 0.5 + bias, dim=-1)
    return weights @ v
