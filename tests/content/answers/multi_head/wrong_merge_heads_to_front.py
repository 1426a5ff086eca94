# wrong: hd-merge-batch-mixed
import torch


def split_heads(x, num_heads):
    batch, seq_len, d_model = x.size()
    d_k = d_model // num_heads
    x = x.reshape(batch, seq_len, num_heads, d_k)
    return x.permute(0, 2, 1, 3)


def merge_heads(x):
    B, H, T, d = x.shape
    return x.permute(1, 2, 0, 3).reshape(B, T, H * d)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q = split_heads(x @ w_q.T, num_heads)
    k = split_heads(x @ w_k.T, num_heads)
    v = split_heads(x @ w_v.T, num_heads)
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return merge_heads(torch.softmax(scores, dim=-1) @ v) @ w_o.T
