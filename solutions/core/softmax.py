"""Softmax, the reference: powers that cannot overflow, and their sum."""

import torch


def softmax(x, dim=-1):
    """Turn each slice of `x` along `dim` into weights that sum to 1."""
    # size 1 along dim, so it broadcasts back over the slice
    peak = x.amax(dim=dim, keepdim=True)
    # every entry in [0, 1], and at least one is 1; the shift cancels below
    powers = torch.exp(x - peak)
    return powers / powers.sum(dim=dim, keepdim=True)
