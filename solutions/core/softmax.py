"""Softmax, the reference: exponentials that cannot overflow, divided by their sum."""

import torch


def softmax(x, dim=-1):
    """Turn each slice of `x` along `dim` into positive weights that sum to 1."""
    peak = x.amax(dim=dim, keepdim=True)  # size 1 along dim, so it broadcasts back over the slice
    powers = torch.exp(x - peak)  # every entry in [0, 1], and at least one is 1; the shift cancels below
    return powers / powers.sum(dim=dim, keepdim=True)
