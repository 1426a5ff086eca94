# wrong: lp-scaled, lp-longest-refused
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.max_len = max_len
        self.weight = nn.Parameter(torch.randn(max_len, d_model) * 0.02)

    def forward(self, x):
        if x.size(1) >= self.max_len:
            raise ValueError("too long")
        return x * x.size(-1) ** 0.5 + self.weight[: x.size(1)]
