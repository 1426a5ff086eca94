# right: one method for each order, chosen from a table in the constructor
import torch
from torch import nn


def attend(q, k, v, mask):
    s = torch.einsum("bihd,bjhd->bhij", q, k) / q.size(-1) ** 0.5
    if mask is not None:
        s = s.masked_fill(torch.logical_not(mask), float("-inf"))
    return torch.einsum("bhij,bjhd->bihd", torch.softmax(s, dim=-1), v)


class A(nn.Module):
    def __init__(self, d_model, h):
        super().__init__()
        self.h = h
        self.wq, self.wk, self.wv, self.wo = [nn.Linear(d_model, d_model, bias=False) for _ in "qkvo"]

    def forward(self, x, mask=None):
        b, t, d = x.shape
        q, k, v = (w(x).view(b, t, self.h, d // self.h) for w in [self.wq, self.wk, self.wv])
        return self.wo(attend(q, k, v, mask).reshape(b, t, d))


class M(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        z = self.w1(x)
        cdf = 0.5 * torch.special.erfc(-z / 2**0.5)
        return self.w2(z * cdf)


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        self.attn = A(d_model, num_heads)
        self.norm1 = nn.LayerNorm(d_model)
        self.ffn = M(d_model, d_ff)
        self.norm2 = nn.LayerNorm(d_model)
        self.order = {True: self.norm_then_branch, False: self.branch_then_norm}[bool(norm_first)]

    @staticmethod
    def norm_then_branch(x, norm, branch):
        return x + branch(norm(x))

    @staticmethod
    def branch_then_norm(x, norm, branch):
        return norm(x + branch(x))

    def forward(self, x, mask=None):
        h = self.order(x, self.norm1, lambda y: self.attn(y, mask=mask))
        return self.order(h, self.norm2, self.ffn)
