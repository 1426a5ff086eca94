# right: in the manner of the Annotated Transformer: clones, sublayers, a mask compared with 0
import copy
import math

import torch
import torch.nn as nn


def clones(module, N):
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])


def attention(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    return torch.matmul(p_attn, value)


class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model):
        super().__init__()
        self.d_k = d_model // h
        self.h = h
        self.wq, self.wk, self.wv, self.wo = clones(nn.Linear(d_model, d_model, bias=False), 4)

    def forward(self, query, key, value, mask=None):
        nbatches = query.size(0)
        query, key, value = [
            lin(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
            for lin, x in zip((self.wq, self.wk, self.wv), (query, key, value))
        ]
        x = attention(query, key, value, mask)
        x = x.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)
        return self.wo(x)


class PositionwiseFeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.w2(nn.functional.gelu(self.w1(x)))


class EncoderLayer(nn.Module):
    def __init__(self, size, h, d_ff):
        super().__init__()
        self.attn = MultiHeadedAttention(h, size)
        self.ffn = PositionwiseFeedForward(size, d_ff)
        self.norm1, self.norm2 = clones(nn.LayerNorm(size), 2)

    def sublayer(self, x, norm, sublayer):
        return x + sublayer(norm(x))

    def forward(self, x, mask):
        x = self.sublayer(x, self.norm1, lambda x: self.attn(x, x, x, mask))
        return self.sublayer(x, self.norm2, self.ffn)


class Encoder(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)
        self.pos = nn.Embedding(max_len, d_model)
        self.blocks = clones(EncoderLayer(d_model, num_heads, d_ff), num_layers)
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids, lengths=None):
        src_mask = None
        if lengths is not None:
            src_mask = torch.zeros_like(ids)
            for row, length in zip(src_mask, lengths):
                row[:length] = 1
            src_mask = src_mask.unsqueeze(-2).unsqueeze(1)
        x = self.tok(ids) + self.pos.weight[: ids.shape[-1]]
        for layer in self.blocks:
            x = layer(x, src_mask)
        return self.norm(x)
