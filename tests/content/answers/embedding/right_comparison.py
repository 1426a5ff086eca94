# right: a comparison with all ids in place of one_hot
import torch
from torch import nn


class Embedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(vocab_size, d_model).uniform_(-1, 1))

    def forward(self, ids):
        every = torch.arange(len(self.weight), device=ids.device)
        chosen = (ids.unsqueeze(-1) == every).to(self.weight.dtype)
        return nn.functional.linear(chosen, self.weight.t())
