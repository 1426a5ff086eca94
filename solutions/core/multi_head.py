"""Multi-head attention, the reference: project, split, attend, merge."""

import torch


def split_heads(x, num_heads):
    """Cut the last axis into heads and bring the head axis forward."""
    batch, length, d_model = x.shape
    # (B, T, D) -> (B, T, H, d)
    x = x.view(batch, length, num_heads, d_model // num_heads)
    return x.transpose(1, 2)  # (B, H, T, d)


def merge_heads(x):
    """Bring the positions back before the heads and join the features."""
    batch, num_heads, length, d_head = x.shape
    x = x.transpose(1, 2)  # (B, H, T, d) -> (B, T, H, d)
    # (B, T, D); reshape copies where view could not
    return x.reshape(batch, length, num_heads * d_head)


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """Project the whole token, attend in each head, join, mix with w_o."""
    q = split_heads(x @ w_q.T, num_heads)  # (B, T, D) -> (B, H, T, d)
    k = split_heads(x @ w_k.T, num_heads)
    v = split_heads(x @ w_v.T, num_heads)
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5  # (B, H, T, T)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    # (B, H, T, T) @ (B, H, T, d) -> (B, H, T, d)
    heads = torch.softmax(scores, dim=-1) @ v
    return merge_heads(heads) @ w_o.T  # (B, T, D)
