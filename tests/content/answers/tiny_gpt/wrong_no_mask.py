# wrong: gp-not-causal
import torch
from torch import nn
from torch.nn import functional as F


class RotaryCache(nn.Module):
    def __init__(self, d_head, base=10000.0):
        super().__init__()
        self.d_head, self.base = d_head, base
        self.register_buffer("cos", torch.empty(0, d_head // 2), persistent=False)
        self.register_buffer("sin", torch.empty(0, d_head // 2), persistent=False)

    def grow(self, length, like):
        inv_freq = 1.0 / self.base ** (torch.arange(0, self.d_head, 2, dtype=torch.float64, device=like.device) / self.d_head)
        angles = torch.arange(length, dtype=torch.float64, device=like.device)[:, None] * inv_freq[None]
        self.cos, self.sin = angles.cos().to(like.dtype), angles.sin().to(like.dtype)

    def forward(self, x):
        T = x.size(-2)
        if self.cos.size(0) < T or self.cos.dtype != x.dtype or self.cos.device != x.device:
            self.grow(T, x)
        c, s = self.cos[:T], self.sin[:T]
        a, b = x[..., ::2], x[..., 1::2]
        out = torch.empty_like(x)
        out[..., ::2] = a * c - b * s
        out[..., 1::2] = a * s + b * c
        return out


class Attention(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.n_head = n_head
        for name in ("wq", "wk", "wv", "wo"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))
        self.rotary = RotaryCache(d_model // n_head)

    def heads(self, y):
        B, T, D = y.shape
        return y.view(B, T, self.n_head, D // self.n_head).transpose(1, 2)

    def forward(self, x):
        q = self.rotary(self.heads(self.wq(x)))
        k = self.rotary(self.heads(self.wk(x)))
        v = self.heads(self.wv(x))
        y = F.scaled_dot_product_attention(q, k, v)
        return self.wo(y.transpose(1, 2).contiguous().view_as(x))


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, d_model, n_head, d_ff):
        super().__init__()
        self.attn, self.ffn = Attention(d_model, n_head), FFN(d_model, d_ff)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x):
        h = x + self.attn(self.norm1(x))
        return h + self.ffn(self.norm2(h))


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.Sequential(*(Block(d_model, num_heads, d_ff) for _ in range(num_layers)))
        self.norm = nn.LayerNorm(d_model)
        self.apply(self._init)

    def _init(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, ids):
        return F.linear(self.norm(self.blocks(self.tok(ids))), self.tok.weight)
