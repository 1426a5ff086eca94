# wrong: hd-split-size-exchanged
import math

import torch
from torch import nn
from torch.nn import functional as F


class MultiHead(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.d_head = d_head
        for name in ("wq", "wk", "wv", "wo"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, x, mask=None):
        b, t, d = x.shape
        q, k, v = (lin(x).reshape(b, t, -1, self.d_head).transpose(1, 2) for lin in (self.wq, self.wk, self.wv))
        s = torch.einsum("bhid,bhjd->bhij", q, k) / self.d_head ** 0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        o = torch.einsum("bhij,bhjd->bihd", s.softmax(-1), v)
        return self.wo(o.reshape(b, t, d))


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x)))


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        self.attn = MultiHead(d_model, num_heads)
        self.ffn = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm_first = norm_first

    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self.attn(self.norm1(x), mask)
            return x + self.ffn(self.norm2(x))
        x = self.norm1(x + self.attn(x, mask))
        return self.norm2(x + self.ffn(x))
