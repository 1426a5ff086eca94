# wrong: emb-not-a-parameter
import torch
import torch.nn as nn


class Embedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = torch.randn(vocab_size, d_model, requires_grad=True)

    def forward(self, ids):
        return self.weight[ids]
