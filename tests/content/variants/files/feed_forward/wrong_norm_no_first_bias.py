# wrong: ff-norm-inside, ff-bias-unused
import torch
import torch.nn.functional as F
from torch import nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.d = d_model
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        x = F.layer_norm(x, (self.d,))
        hidden = F.gelu(F.linear(x, self.w1.weight))
        return F.linear(hidden, self.w2.weight, self.w2.bias)
