"""Padding masks, the reference: a token or not, past or not."""

import torch


def padding_mask(lengths, max_len):
    """Hide the keys that only fill a text up."""
    places = torch.arange(max_len, device=lengths.device)  # (S,)  # step: places
    real = places < lengths.unsqueeze(1)  # (S,) < (B, 1) -> (B, S)  # step: real
    # (B, 1, 1, S)
    return real[:, None, None, :]  # step: give


def causal_padding_mask(lengths, max_len):
    """Hide the padding, and from every query its future, too."""
    places = torch.arange(max_len, device=lengths.device)  # (T,)  # step: columns
    real = places < lengths.unsqueeze(1)  # (T,) < (B, 1) -> (B, T)  # step: tokens
    keys = real[:, None, None, :]  # (B, 1, 1, T)  # step: keys
    causal = places <= places.unsqueeze(1)  # (T,) <= (T, 1) -> (T, T)  # step: causal
    # (T, T) & (B, 1, 1, T) -> (B, 1, T, T)
    return causal & keys  # step: both
