# wrong: hd-split-folded
import torch


def split_heads(x, num_heads):
    B, T, D = x.shape
    return x.view(B, T, num_heads, D // num_heads).transpose(1, 2).reshape(B * num_heads, T, D // num_heads)


def merge_heads(x):
    return torch.cat([x[:, i] for i in range(x.size(1))], dim=-1)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q = _split(x @ w_q.T, num_heads)
    k = _split(x @ w_k.T, num_heads)
    v = _split(x @ w_v.T, num_heads)
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return merge_heads(torch.softmax(scores, dim=-1) @ v) @ w_o.T


def _split(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)
