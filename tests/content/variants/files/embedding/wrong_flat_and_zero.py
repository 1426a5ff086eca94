# wrong: emb-padding-zeroed, emb-flattened
import torch
from torch import nn


class Embedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, ids):
        ids = ids.flatten()
        rows = self.weight.index_select(0, ids)
        keep = (ids != 0).unsqueeze(1)
        return torch.where(keep, rows, torch.zeros_like(rows))
