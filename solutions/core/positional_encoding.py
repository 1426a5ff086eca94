"""Sinusoidal positional encoding, the reference: angles, then waves."""

import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    """Give every position its vector of sines and cosines."""
    positions = torch.arange(seq_len, dtype=torch.float32)  # (T,)  # step: number
    # the numbers 2i: (D/2,)
    even = torch.arange(0, d_model, 2, dtype=torch.float32)
    exponents = even / d_model  # step: exponents
    rates = 10000.0**-exponents  # later pairs turn slower  # step: rate
    angles = positions.unsqueeze(1) * rates  # (T, 1) * (D/2,) -> (T, D/2)  # step: turn
    # (T, D/2, 2)
    pairs = torch.stack((angles.sin(), angles.cos()), dim=-1)  # step: waves
    # (T, D), with sin and cos of a pair side by side
    return pairs.flatten(start_dim=1)
