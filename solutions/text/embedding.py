"""The embedding, the reference: one row of a table for each id."""

import torch
from torch import nn


class Embedding(nn.Module):
    """A table of learned vectors: id i picks row i."""

    def __init__(self, vocab_size, d_model):
        super().__init__()
        table = torch.randn(vocab_size, d_model)  # (V, D)  # step: start
        self.weight = nn.Parameter(table)  # step: table

    def forward(self, ids):
        """Pick the row of each id."""
        return self.weight[ids]  # (...) -> (..., D)  # step: look
