# right: a copy first, then in place
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.max_len = max_len
        self.weight = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

    def forward(self, x):
        batch, length, width = x.shape
        if length > self.max_len:
            raise ValueError(f"{length} > {self.max_len}")
        out = x.clone()
        out += self.weight[None, :length, :]
        return out
