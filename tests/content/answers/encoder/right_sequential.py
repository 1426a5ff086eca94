# right: a Sequential whose layers hand (x, mask) on, and torch's attention inside
import torch
import torch.nn.functional as F
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        for name in ("wq", "wk", "wv", "wo"):
            setattr(self, name, nn.Linear(dim, dim, bias=False))

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = (f(x).reshape(b, t, self.heads, -1).permute(0, 2, 1, 3) for f in (self.wq, self.wk, self.wv))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.wo(y.permute(0, 2, 1, 3).reshape(b, t, d))


class Mlp(nn.Sequential):
    def __init__(self, dim, hidden):
        super().__init__()
        self.add_module("w1", nn.Linear(dim, hidden))
        self.add_module("act", nn.GELU())
        self.add_module("w2", nn.Linear(hidden, dim))


class Layer(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = SelfAttention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.ffn = Mlp(dim, hidden)

    def forward(self, pair):
        x, mask = pair
        x = x + self.attn(self.norm1(x), mask)
        x = x + self.ffn(self.norm2(x))
        return x, mask


class Encoder(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)
        self.pos = nn.Embedding(max_len, d_model)
        self.blocks = nn.Sequential(*(Layer(d_model, num_heads, d_ff) for _ in range(num_layers)))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids, lengths=None):
        t = torch.arange(ids.shape[1]).to(ids)
        mask = None if lengths is None else torch.lt(t, lengths.view(-1, 1, 1, 1))
        x, _ = self.blocks((self.tok(ids) + self.pos(t), mask))
        return self.norm(x)
