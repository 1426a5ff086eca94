"""Multi-head attention, the reference: project, split, attend, merge, mix."""

import torch


def split_heads(x, num_heads):
    """Cut the last axis into heads and bring the head axis forward."""
    batch, length, d_model = x.shape
    x = x.view(batch, length, num_heads, d_model // num_heads)  # (B, T, D) -> (B, T, H, d)
    return x.transpose(1, 2)  # (B, H, T, d)


def merge_heads(x):
    """Bring the position axis back before the heads and join the heads' features."""
    batch, num_heads, length, d_head = x.shape
    x = x.transpose(1, 2)  # (B, H, T, d) -> (B, T, H, d)
    return x.reshape(batch, length, num_heads * d_head)  # (B, T, D); reshape copies where view could not


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """Project the whole token, attend in each head apart, join the heads and mix them with w_o."""
    q = split_heads(x @ w_q.T, num_heads)  # (B, T, D) -> (B, H, T, d)
    k = split_heads(x @ w_k.T, num_heads)
    v = split_heads(x @ w_v.T, num_heads)
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5  # (B, H, T, T)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    heads = torch.softmax(scores, dim=-1) @ v  # (B, H, T, T) @ (B, H, T, d) -> (B, H, T, d)
    return merge_heads(heads) @ w_o.T  # (B, T, D)
