# right: nn.Sequential with names from an OrderedDict, nn.Identity in the places of the other order
from collections import OrderedDict

import torch
from torch import nn


class MHSA(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, dim, bias=False)
        self.wv = nn.Linear(dim, dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)

    def forward(self, x, mask=None):
        q, k, v = (torch.stack(f(x).chunk(self.heads, dim=-1), dim=1) for f in (self.wq, self.wk, self.wv))
        dots = torch.matmul(q, k.mT) * self.scale
        if mask is not None:
            dots = dots.masked_fill(~mask, -torch.finfo(dots.dtype).max)
        out = torch.matmul(dots.softmax(dim=-1), v)
        return self.wo(torch.cat(out.unbind(1), dim=-1))


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        self.norm_first = norm_first
        self.attn = MHSA(d_model, num_heads)
        self.ffn = nn.Sequential(
            OrderedDict(w1=nn.Linear(d_model, d_ff), act=nn.GELU(), w2=nn.Linear(d_ff, d_model), drop=nn.Dropout(0.0))
        )
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        keep = nn.Identity()
        before1, after1 = (self.norm1, keep) if self.norm_first else (keep, self.norm1)
        before2, after2 = (self.norm2, keep) if self.norm_first else (keep, self.norm2)
        x = after1(x + self.attn(before1(x), mask))
        return after2(x + self.ffn(before2(x)))
