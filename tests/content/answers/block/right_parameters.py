# right: no nn.Linear at all: containers of nn.Parameter and functional calls
import torch
import torch.nn.functional as F
from torch import nn


class W(nn.Module):
    def __init__(self, *shape, bias=False):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(*shape) * 0.02)
        if bias:
            self.bias = nn.Parameter(torch.zeros(shape[0]))


class Group(nn.Module):
    def __init__(self, **children):
        super().__init__()
        for name, child in children.items():
            self.add_module(name, child)


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        D = d_model
        self.H, self.norm_first = num_heads, norm_first
        self.attn = Group(wq=W(D, D), wk=W(D, D), wv=W(D, D), wo=W(D, D))
        self.ffn = Group(w1=W(d_ff, D, bias=True), w2=W(D, d_ff, bias=True))
        self.norm1, self.norm2 = W(D, bias=True), W(D, bias=True)

    def _norm(self, x, n):
        return F.layer_norm(x, (x.shape[-1],), n.weight, n.bias, 1e-5)

    def _heads(self, y):
        return y.reshape(*y.shape[:-1], self.H, -1).movedim(-2, 1)

    def _attend(self, x, mask):
        a = self.attn
        q, k, v = (self._heads(F.linear(x, p.weight)) for p in (a.wq, a.wk, a.wv))
        s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        s = s if mask is None else s + torch.zeros_like(s).masked_fill(~mask, float("-inf"))
        return F.linear((torch.softmax(s, -1) @ v).movedim(1, -2).flatten(-2), a.wo.weight)

    def _mlp(self, x):
        f = self.ffn
        return F.linear(F.gelu(F.linear(x, f.w1.weight, f.w1.bias)), f.w2.weight, f.w2.bias)

    def forward(self, x, mask=None):
        if self.norm_first:
            x = x + self._attend(self._norm(x, self.norm1), mask)
            return x + self._mlp(self._norm(x, self.norm2))
        x = self._norm(x + self._attend(x, mask), self.norm1)
        return self._norm(x + self._mlp(x), self.norm2)
