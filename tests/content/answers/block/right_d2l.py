# right: d2l: AddNorm modules that share their norms with the block, heads folded into the batch
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, num_hiddens, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.wq = nn.Linear(num_hiddens, num_hiddens, bias=False)
        self.wk = nn.Linear(num_hiddens, num_hiddens, bias=False)
        self.wv = nn.Linear(num_hiddens, num_hiddens, bias=False)
        self.wo = nn.Linear(num_hiddens, num_hiddens, bias=False)

    def transpose_qkv(self, X):
        X = X.reshape(X.shape[0], X.shape[1], self.num_heads, -1).permute(0, 2, 1, 3)
        return X.reshape(-1, X.shape[2], X.shape[3])

    def transpose_output(self, X):
        X = X.reshape(-1, self.num_heads, X.shape[1], X.shape[2]).permute(0, 2, 1, 3)
        return X.reshape(X.shape[0], X.shape[1], -1)

    def forward(self, queries, keys, values, mask):
        batch, length = queries.shape[:2]
        queries = self.transpose_qkv(self.wq(queries))
        keys = self.transpose_qkv(self.wk(keys))
        values = self.transpose_qkv(self.wv(values))
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        if mask is not None:
            mask = mask.expand(batch, self.num_heads, length, length).reshape(scores.shape)
            scores = scores.masked_fill(~mask, -1e6)
        return self.wo(self.transpose_output(torch.bmm(torch.softmax(scores, -1), values)))


class PositionWiseFFN(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.w1 = nn.Linear(d, h)
        self.gelu = nn.GELU()
        self.w2 = nn.Linear(h, d)

    def forward(self, X):
        return self.w2(self.gelu(self.w1(X)))


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        self.norm_first = norm_first
        self.attn = MultiHeadAttention(d_model, num_heads)
        self.norm1 = nn.LayerNorm(d_model)
        self.ffn = PositionWiseFFN(d_model, d_ff)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, X, mask=None):
        if self.norm_first:
            N = self.norm1(X)
            Y = X + self.attn(N, N, N, mask)
            return Y + self.ffn(self.norm2(Y))
        Y = self.norm1(X + self.attn(X, X, X, mask))
        return self.norm2(Y + self.ffn(Y))
