# right: indices for every text, as ids would be looked up
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
        places = torch.arange(length, device=x.device).expand(batch, length)
        return x + nn.functional.embedding(places, self.weight)
