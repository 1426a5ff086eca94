"""Softmax, the reference: powers that cannot overflow, and their sum."""

import torch


def softmax(x, dim=-1):
    """Turn each slice of `x` along `dim` into weights that sum to 1."""
    # size 1 along dim, so the peak broadcasts back over its slice; the
    # shift cancels below
    shifted = x - x.amax(dim=dim, keepdim=True)  # step: shift
    # every entry in [0, 1], and at least one is 1
    powers = torch.exp(shifted)  # step: power
    total = powers.sum(dim=dim, keepdim=True)  # step: total
    return powers / total  # step: give
