# right: own GPT in one file, einsum everywhere, Adam with clipping
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class CausalAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.h, self.d = heads, dim // heads
        self.q = nn.Parameter(torch.randn(heads, dim, self.d) / math.sqrt(dim))
        self.k = nn.Parameter(torch.randn(heads, dim, self.d) / math.sqrt(dim))
        self.v = nn.Parameter(torch.randn(heads, dim, self.d) / math.sqrt(dim))
        self.o = nn.Parameter(torch.randn(heads, self.d, dim) / math.sqrt(dim))

    def forward(self, x):
        n = x.shape[1]
        q = torch.einsum("btc,hcd->bhtd", x, self.q)
        k = torch.einsum("btc,hcd->bhtd", x, self.k)
        v = torch.einsum("btc,hcd->bhtd", x, self.v)
        att = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(self.d)
        future = torch.triu(torch.ones(n, n, dtype=torch.bool, device=x.device), diagonal=1)
        att = att.masked_fill(future, -torch.inf).softmax(dim=-1)
        out = torch.einsum("bhij,bhjd->bhid", att, v)
        return torch.einsum("bhtd,hdc->btc", out, self.o)


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.ln_a, self.ln_b = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.att = CausalAttention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.ReLU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.att(self.ln_a(x))
        return x + self.mlp(self.ln_b(x))


class TwoBits(nn.Module):
    def __init__(self, vocab_size, max_len):
        super().__init__()
        dim = 40
        self.wte = nn.Embedding(vocab_size, dim)
        self.wpe = nn.Embedding(max_len, dim)
        self.layers = nn.Sequential(Layer(dim, 4), Layer(dim, 4))
        self.ln = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, vocab_size)

    def forward(self, ids):
        t = torch.arange(ids.shape[1], device=ids.device)
        x = self.wte(ids) + self.wpe(t)
        return self.out(self.ln(self.layers(x)))


def fit(model, data, starts, block_size, report):
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for i in range(len(starts)):
        x = torch.stack([data[s : s + block_size] for s in starts[i]])
        y = torch.stack([data[s + 1 : s + block_size + 1] for s in starts[i]])
        logits = model(x)
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))
        report(loss.item())
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
