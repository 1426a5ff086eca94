# wrong: lp-buffer
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.max_len = max_len
        self.register_buffer("weight", torch.randn(max_len, d_model))

    def forward(self, x):
        batch, length, width = x.shape
        if length > self.max_len:
            raise ValueError(f"{length} > {self.max_len}")
        return self.weight[:length] + x
