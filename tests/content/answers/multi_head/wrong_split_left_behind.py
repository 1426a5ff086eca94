# wrong: hd-split-no-transpose
import torch


def split_heads(x, num_heads):
    B, T, D = x.size()
    x = x.view(B, T, num_heads, D // num_heads)
    x.transpose(1, 2)
    return x


def merge_heads(x):
    return x.permute(0, 2, 1, 3).flatten(2)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q = split_heads(x @ w_q.T, num_heads)
    k = split_heads(x @ w_k.T, num_heads)
    v = split_heads(x @ w_v.T, num_heads)
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return merge_heads(torch.softmax(scores, dim=-1) @ v) @ w_o.T
