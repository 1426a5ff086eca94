# wrong: en-post-ln, en-pooled
import torch
from torch import nn


class MultiHead(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.n_head = n_head
        self.d_head = d_model // n_head
        self.wq = nn.Linear(d_model, d_model, bias=False)
        self.wk = nn.Linear(d_model, d_model, bias=False)
        self.wv = nn.Linear(d_model, d_model, bias=False)
        self.wo = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        q, k, v = self.wq(x), self.wk(x), self.wv(x)
        n, t = x.shape[0], x.shape[1]
        if mask is not None:
            mask = torch.broadcast_to(mask, (n, self.n_head, t, t))
        parts = []
        for h in range(self.n_head):
            cols = slice(h * self.d_head, (h + 1) * self.d_head)
            scores = torch.einsum("btd,bsd->bts", q[..., cols], k[..., cols])
            scores = scores * self.d_head**-0.5
            if mask is not None:
                scores = torch.where(mask[:, h], scores, float("-inf"))
            parts.append(torch.einsum("bts,bsd->btd", scores.softmax(-1), v[..., cols]))
        return self.wo(torch.cat(parts, -1))


class Net(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.act = nn.GELU()
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        h = self.act(self.w1(x))
        return self.w2(h)


class Layer(nn.Module):
    def __init__(self, d_model, n_head, d_ff):
        super().__init__()
        self.attn = MultiHead(d_model, n_head)
        self.ffn = Net(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        h = self.norm1(x + self.attn(x, mask))
        return self.norm2(h + self.ffn(h))


class Encoder(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)
        self.pos = nn.Embedding(max_len, d_model)
        layers = []
        for i in range(num_layers):
            layers.append(Layer(d_model, num_heads, d_ff))
        self.blocks = nn.Sequential(*layers)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids, lengths=None):
        n, t = ids.size()
        if lengths is None:
            lengths = torch.full((n,), t, device=ids.device)
        p = torch.arange(t, device=ids.device)
        mask = torch.stack([p < length for length in lengths])
        mask = mask[:, None, None, :]
        x = self.tok(ids)
        x = x + self.pos.weight[None, :t]
        for layer in self.blocks:
            x = layer(x, mask)
        x = self.norm(x)
        real = mask[:, 0, 0, :, None].to(x.dtype)
        return (x * real).sum(1) / real.sum(1)
