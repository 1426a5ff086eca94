# wrong: hd-split-view
import torch


def split_heads(x, num_heads):
    B, T, D = x.shape
    return x.reshape(B, num_heads, T, D // num_heads)


def merge_heads(x):
    B, H, T, d = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, H * d)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q = split_heads(x @ w_q.T, num_heads)
    k = split_heads(x @ w_k.T, num_heads)
    v = split_heads(x @ w_v.T, num_heads)
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return merge_heads(torch.softmax(scores, dim=-1) @ v) @ w_o.T
