# right: nanoGPT with an idle dropout and a module for GELU
import torch.nn as nn


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)
        self.gelu = nn.GELU(approximate="tanh")
        self.dropout = nn.Dropout(0.0)

    def forward(self, x):
        x = self.w1(x)
        x = self.gelu(x)
        x = self.w2(x)
        return self.dropout(x)
