# right: a parameter for each table, products by hand
import torch
from block import TransformerBlock
from torch import nn
from torch.nn import functional as F


class Table(nn.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, width).normal_(std=0.02))


class GPT(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.max_len = max_len
        self.tok = Table(vocab_size, d_model)
        self.pos = Table(max_len, d_model)
        self.blocks = nn.ModuleList([TransformerBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = Table(vocab_size, d_model)
        self.head.weight = self.tok.weight

    def forward(self, ids):
        B, T = ids.shape
        if T > self.max_len:
            raise ValueError(f"{T} tokens do not fit into {self.max_len} places")
        x = F.embedding(ids, self.tok.weight) + self.pos.weight[:T].unsqueeze(0)
        mask = torch.tril(torch.ones(T, T, dtype=torch.bool, device=ids.device))
        for block in self.blocks:
            x = block(x, mask)
        return torch.einsum("btd,vd->btv", self.norm(x), self.head.weight)
