# wrong: emb-detached
import torch
import torch.nn as nn


class Embedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))

    @torch.no_grad()
    def forward(self, ids):
        out = torch.zeros(*ids.shape, self.weight.shape[1])
        out[...] = self.weight[ids]
        return out
