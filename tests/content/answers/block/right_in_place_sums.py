# right: += only on tensors of its own
import torch
from torch import nn
from torch.nn import functional as F


class Attn(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.H = H
        self.wq = nn.Linear(D, D, False)
        self.wk = nn.Linear(D, D, False)
        self.wv = nn.Linear(D, D, False)
        self.wo = nn.Linear(D, D, False)

    def forward(self, x, mask):
        q, k, v = [w(x).unflatten(2, (self.H, -1)).transpose(1, 2) for w in (self.wq, self.wk, self.wv)]
        bias = None if mask is None else torch.zeros_like(mask, dtype=q.dtype).masked_fill_(~mask, -torch.inf)
        return self.wo(F.scaled_dot_product_attention(q, k, v, bias).transpose(1, 2).flatten(2))


class Mlp(nn.Module):
    def __init__(self, D, hidden):
        super().__init__()
        self.w1 = nn.Linear(D, hidden)
        self.w2 = nn.Linear(hidden, D)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x), approximate="none"))


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        self.pre = norm_first
        self.attn, self.ffn = Attn(d_model, num_heads), Mlp(d_model, d_ff)
        self.norm1, self.norm2 = (nn.LayerNorm(d_model) for _ in range(2))

    def forward(self, x, mask=None):
        out = self.attn(self.norm1(x) if self.pre else x, mask)
        out += x
        if not self.pre:
            out = self.norm1(out)
        more = self.ffn(self.norm2(out) if self.pre else out)
        more += out
        return more if self.pre else self.norm2(more)
