# wrong: gp-not-causal, lp-cut-off
import torch
from torch import nn
import torch.nn.functional as F

class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.wq = nn.Linear(d, d, bias=False)
        self.wk = nn.Linear(d, d, bias=False)
        self.wv = nn.Linear(d, d, bias=False)
        self.wo = nn.Linear(d, d, bias=False)

    def forward(self, x, mask):
        B, T, D = x.shape
        q, k, v = (w(x).view(B, T, self.h, D // self.h).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        s = q @ k.mT / (D // self.h) ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask, -torch.inf)
        z = s.softmax(-1) @ v
        return self.wo(z.transpose(1, 2).reshape(B, T, D))

class Network(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d, f), nn.Linear(f, d)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x)))

class Block(nn.Module):
    def __init__(self, d, h, f):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn, self.ffn = Attention(d, h), Network(d, f)

    def forward(self, x, mask):
        x = x + self.attn(self.norm1(x), mask)
        return x + self.ffn(self.norm2(x))

class GPT(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.max_len, self.d_model = max_len, d_model
        self.tok = nn.Embedding(vocab_size, d_model)
        self.pos = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(Block(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, ids):
        B, T = ids.shape
        if T > self.max_len:
            ids = ids[:, :self.max_len]; T = self.max_len
        x = self.tok(ids) + self.pos(torch.arange(T, device=ids.device))
        mask = None
        for b in self.blocks:
            x = b(x, mask)
        return self.head(self.norm(x))
