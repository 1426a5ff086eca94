"""Rotary positions, the reference: angles, then one turn for each pair."""

import torch


def apply_rope(x, positions, base=10000.0):
    """Turn each pair by an angle that grows with the position."""
    d_head = x.size(-1)
    # the numbers 2i: (d_head/2,)
    even = torch.arange(0, d_head, 2, dtype=x.dtype, device=x.device)  # step: even
    exponents = even / d_head  # step: exponents
    rates = base**-exponents  # later pairs turn slower  # step: rates
    # (T, 1) * (d_head/2,) -> (T, d_head/2)
    angles = positions.unsqueeze(1) * rates  # step: angles
    cos, sin = angles.cos(), angles.sin()  # step: waves
    left, right = x[..., 0::2], x[..., 1::2]  # (..., T, d_head/2)  # step: split
    turned_left = left * cos - right * sin  # step: first
    turned_right = left * sin + right * cos  # step: second
    # (..., T, d_head/2, 2)
    pairs = torch.stack((turned_left, turned_right), dim=-1)  # step: pairs
    # (..., T, d_head), with the two of a pair side by side
    return pairs.flatten(-2)  # step: give
