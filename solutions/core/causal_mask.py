"""The causal mask, the reference: its definition, as a comparison."""

import torch


def causal_mask(seq_len):
    """Say which position may attend to which, from left to right."""
    positions = torch.arange(seq_len)  # (T,)  # step: length
    queries = positions.unsqueeze(1)  # (T, 1)
    keys = positions.unsqueeze(0)  # (1, T)
    # broadcasts to (T, T): row i is True up to and including column i
    return keys <= queries  # step: allow
