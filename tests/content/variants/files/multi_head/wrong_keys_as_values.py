# wrong: at-values-are-keys
import torch
from torch.nn import functional as F


def split_heads(x, num_heads):
    n, t, c = x.shape
    return x.reshape(n, t, num_heads, c // num_heads).swapaxes(1, 2)


def merge_heads(x):
    n, h, t, c = x.shape
    return x.swapaxes(1, 2).reshape(n, t, h * c)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    query = split_heads(F.linear(x, w_q), num_heads)
    key = split_heads(F.linear(x, w_k), num_heads)
    value = split_heads(F.linear(x, w_k), num_heads)
    z = F.scaled_dot_product_attention(query, key, value, mask)
    return F.linear(merge_heads(z), w_o)
