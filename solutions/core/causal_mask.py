"""The causal mask, the reference: the definition, written as a comparison."""

import torch


def causal_mask(seq_len):
    """Say which position may attend to which, in a model that reads left to right."""
    positions = torch.arange(seq_len)  # (T,)
    queries, keys = positions.unsqueeze(1), positions.unsqueeze(0)  # (T, 1), (1, T)
    return keys <= queries  # broadcasts to (T, T): row i is True up to and including column i
