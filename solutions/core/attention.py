"""Scaled dot-product attention, the reference: score, softmax, mix."""

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    """For each query, average the values by how well the keys match."""
    # (..., T, d_k) @ (..., d_k, S) -> (..., T, S)
    scores = q @ k.transpose(-2, -1)  # step: score
    scores = scores / q.size(-1) ** 0.5  # step: scale
    if mask is not None:
        # exp(-inf) = 0: exactly no weight
        scores = scores.masked_fill(~mask, float("-inf"))  # step: hide
    # over the keys: each query has a total of 1 to give
    weights = torch.softmax(scores, dim=-1)  # step: weigh
    # (..., T, S) @ (..., S, d_v) -> (..., T, d_v)
    return weights @ v  # step: blend
