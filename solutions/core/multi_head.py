"""Multi-head attention, the reference: project, split, attend, merge."""

import torch


def split_heads(x, num_heads):
    """Cut the last axis into heads and bring the head axis forward."""
    batch, length, d_model = x.shape
    # (B, T, D) -> (B, T, H, d_head)
    x = x.view(batch, length, num_heads, d_model // num_heads)  # step: cut
    return x.transpose(1, 2)  # (B, H, T, d_head)  # step: forward


def merge_heads(x):
    """Bring the positions back before the heads and join the features."""
    batch, num_heads, length, d_head = x.shape
    # (B, H, T, d_head) -> (B, T, H, d_head)
    x = x.transpose(1, 2)  # step: back
    # (B, T, D); reshape copies where view could not
    return x.reshape(batch, length, num_heads * d_head)  # step: join


def multi_head_attention(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """Project the whole token, attend in each head, join, mix with w_o."""
    q, k, v = x @ w_q.T, x @ w_k.T, x @ w_v.T  # (B, T, D)  # step: project
    # (B, T, D) -> (B, H, T, d_head)
    q, k, v = (split_heads(part, num_heads) for part in (q, k, v))  # step: split
    scores = q @ k.transpose(-2, -1)  # (B, H, T, T)  # step: score
    scores = scores / q.size(-1) ** 0.5  # step: scale
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))  # step: hide
    weights = torch.softmax(scores, dim=-1)  # step: weigh
    heads = weights @ v  # (B, H, T, d_head)  # step: blend
    joined = merge_heads(heads)  # (B, T, D)  # step: merge
    return joined @ w_o.T  # step: mix
