# wrong: lp-clamped
import torch
from torch import nn
import torch.nn.functional as F


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.max_len = max_len
        self.weight = nn.Parameter(torch.zeros(max_len, d_model))

    def forward(self, x):
        T = x.shape[1]
        rows = self.weight[:T]
        if T > self.max_len:
            rows = F.pad(rows, (0, 0, 0, T - self.max_len))
        return x + rows.unsqueeze(0)


p = LearnedPositionalEmbedding(4, 2)
print(p(torch.full((1, 3, 2), 10.0)))
