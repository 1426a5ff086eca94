# wrong: en-mask-from-ids
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
        q = self.wq(x).view(B, T, self.h, -1).transpose(1, 2)
        k = self.wk(x).view(B, T, self.h, -1).transpose(1, 2)
        v = self.wv(x).view(B, T, self.h, -1).transpose(1, 2)
        s = q @ k.transpose(-1, -2) / (D // self.h) ** 0.5
        s = s.masked_fill(mask == 0, -1e9)
        y = F.softmax(s, dim=-1) @ v
        return self.wo(y.transpose(1, 2).contiguous().view(B, T, D))


class FeedForward(nn.Module):
    def __init__(self, d, f):
        super().__init__()
        self.w1 = nn.Linear(d, f)
        self.w2 = nn.Linear(f, d)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x)))


class EncoderLayer(nn.Module):
    def __init__(self, d, h, f):
        super().__init__()
        self.attn = Attention(d, h)
        self.ffn = FeedForward(d, f)
        self.norm1 = nn.LayerNorm(d)
        self.norm2 = nn.LayerNorm(d)

    def forward(self, x, mask):
        x = x + self.attn(self.norm1(x), mask)
        x = x + self.ffn(self.norm2(x))
        return x


class Encoder(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)
        self.pos = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([EncoderLayer(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids, lengths=None):
        mask = (ids != 0)[:, None, None, :]
        x = self.tok(ids) + self.pos(torch.arange(ids.size(1), device=ids.device))
        for layer in self.blocks:
            x = layer(x, mask)
        return self.norm(x)
