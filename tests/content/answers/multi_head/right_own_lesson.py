# right: reuses the answer of an earlier lesson
import torch
from attention import scaled_dot_product_attention


def split_heads(x, num_heads):
    return x.unflatten(2, (num_heads, x.size(2) // num_heads)).transpose(1, 2)


def merge_heads(x):
    return x.transpose(1, 2).flatten(start_dim=2)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q = split_heads(x @ w_q.mT, num_heads)
    k = split_heads(x @ w_k.mT, num_heads)
    v = split_heads(x @ w_v.mT, num_heads)
    return merge_heads(scaled_dot_product_attention(q, k, v, mask)) @ w_o.mT
