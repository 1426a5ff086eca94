"""Learned positions, the reference: row t of a table for token t."""

import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    """A second table, with one learned row for each place."""

    def __init__(self, max_len, d_model):
        super().__init__()
        table = torch.randn(max_len, d_model)  # (max_len, D)  # step: start
        self.weight = nn.Parameter(table)  # step: table

    def forward(self, x):
        """Add the rows 0 ... T − 1 to x."""
        length = x.size(1)  # T  # step: length
        if length > self.weight.size(0):  # step: too_long
            longest = self.weight.size(0)
            raise ValueError(f"{length} tokens, at most {longest}")
        rows = self.weight[:length]  # (T, D)  # step: rows
        return x + rows  # (B, T, D) + (T, D)  # step: add
