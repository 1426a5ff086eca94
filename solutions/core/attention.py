"""Scaled dot-product attention, the reference: score, scale, mask, normalise, sum."""

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    """For each query, average the values, weighted by how well their keys match it."""
    d_k = q.size(-1)
    scores = q @ k.transpose(-2, -1) / d_k**0.5  # (..., T, d_k) @ (..., d_k, S) -> (..., T, S)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))  # exp(-inf) = 0: exactly no weight
    weights = torch.softmax(scores, dim=-1)  # over the keys: each query has a total of 1 to give
    return weights @ v  # (..., T, S) @ (..., S, d_v) -> (..., T, d_v)
