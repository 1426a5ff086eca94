# right: everything in one file, einsum, rope by complex numbers
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def rotate(x):
    # x: (B, H, T, d)
    T, d = x.shape[-2:]
    freqs = 10000.0 ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    t = torch.arange(T, device=x.device, dtype=torch.float64)
    angle = torch.outer(t, freqs).to(x.dtype)
    cis = torch.polar(torch.ones_like(angle), angle)
    z = torch.view_as_complex(x.reshape(*x.shape[:-1], d // 2, 2).contiguous())
    return torch.view_as_real(z * cis).flatten(-2)


class Attn(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.H = H
        self.wq = nn.Linear(D, D, bias=False)
        self.wk = nn.Linear(D, D, bias=False)
        self.wv = nn.Linear(D, D, bias=False)
        self.wo = nn.Linear(D, D, bias=False)

    def forward(self, x):
        B, T, D = x.shape
        d = D // self.H
        q = torch.einsum("btc,oc->bto", x, self.wq.weight).view(B, T, self.H, d).permute(0, 2, 1, 3)
        k = torch.einsum("btc,oc->bto", x, self.wk.weight).view(B, T, self.H, d).permute(0, 2, 1, 3)
        v = torch.einsum("btc,oc->bto", x, self.wv.weight).view(B, T, self.H, d).permute(0, 2, 1, 3)
        q, k = rotate(q), rotate(k)
        att = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(d)
        mask = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        att = att.masked_fill(mask, float("-inf")).softmax(-1)
        y = torch.einsum("bhij,bhjd->bihd", att, v).reshape(B, T, D)
        return self.wo(y)


class MLP(nn.Module):
    def __init__(self, D, hidden):
        super().__init__()
        self.w1 = nn.Linear(D, hidden)
        self.w2 = nn.Linear(hidden, D)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x)))


class Block(nn.Module):
    def __init__(self, D, H, hidden):
        super().__init__()
        self.norm1 = nn.LayerNorm(D)
        self.attn = Attn(D, H)
        self.norm2 = nn.LayerNorm(D)
        self.ffn = MLP(D, hidden)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        x = x + self.ffn(self.norm2(x))
        return x


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList([Block(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids):
        x = self.tok(ids)
        for block in self.blocks:
            x = block(x)
        x = self.norm(x)
        return torch.einsum("btd,vd->btv", x, self.tok.weight)
