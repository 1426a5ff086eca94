# wrong: at-mask-late
import torch


def split_heads(x, num_heads):
    return x.view(x.size(0), x.size(1), num_heads, -1).transpose(1, 2)


def merge_heads(x):
    x = x.transpose(1, 2)
    return x.reshape(x.size(0), x.size(1), -1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_heads(x @ w.T, num_heads) for w in (w_q, w_k, w_v))
    q = q / q.size(-1) ** 0.5
    weights = (q @ k.transpose(-2, -1)).softmax(-1)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(-1, keepdim=True)
    return merge_heads(weights @ v) @ w_o.T
