# wrong: bl-dropout, at-no-scale
import torch
from torch import nn


class MultiHead(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.wq = nn.Linear(d_model, d_model, bias=False)
        self.wk = nn.Linear(d_model, d_model, bias=False)
        self.wv = nn.Linear(d_model, d_model, bias=False)
        self.wo = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        q = self.wq(x).reshape(B, T, self.num_heads, -1).swapaxes(1, 2)
        k = self.wk(x).reshape(B, T, self.num_heads, -1).swapaxes(1, 2)
        v = self.wv(x).reshape(B, T, self.num_heads, -1).swapaxes(1, 2)
        scores = q @ k.swapaxes(-1, -2)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        return self.wo((scores.softmax(-1) @ v).swapaxes(1, 2).reshape(B, T, D))


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.w2(nn.functional.gelu(self.w1(x)))


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        self.attn = MultiHead(d_model, num_heads)
        self.ffn = FFN(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.drop = nn.Dropout(0.1)
        self.norm_first = norm_first

    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self.drop(self.attn(self.norm1(x), mask))
            x = x + self.drop(self.ffn(self.norm2(x)))
        else:
            x = self.norm1(x + self.drop(self.attn(x, mask)))
            x = self.norm2(x + self.drop(self.ffn(x)))
        return x
