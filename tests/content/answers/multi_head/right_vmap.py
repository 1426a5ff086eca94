# right: torch.vmap over heads
import torch


def split_heads(x, num_heads):
    return x.reshape(*x.shape[:-1], num_heads, -1).movedim(-2, 1)


def merge_heads(x):
    return x.movedim(1, -2).flatten(-2)


def _one_head(q, k, v, bias):
    s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + bias
    return torch.softmax(s, dim=-1) @ v


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_heads(x @ w.T, num_heads) for w in (w_q, w_k, w_v))
    bias = x.new_zeros(x.shape[0], num_heads, x.shape[1], x.shape[1])
    if mask is not None:
        bias = bias.masked_fill(~mask, float("-inf"))
    heads = torch.vmap(_one_head, in_dims=1, out_dims=1)(q, k, v, bias)
    return merge_heads(heads) @ w_o.T
