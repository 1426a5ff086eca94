# wrong: lp-no-check
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.max_len = max_len
        self.weight = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

    def forward(self, x):
        assert x.size(1) <= self.max_len, "too long"
        return x + self.weight[: x.size(1)]
