# wrong: gp-device
import torch
from block import TransformerBlock
from torch import nn


class GPT(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.max_len = max_len
        self.tok = nn.Embedding(vocab_size, d_model)
        self.pos = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([TransformerBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, ids):
        B, T = ids.shape
        if T > self.max_len:
            raise ValueError(f"{T} tokens do not fit into {self.max_len} places")
        x = self.tok(ids) + self.pos(torch.arange(T))
        mask = torch.tril(torch.ones(T, T, dtype=torch.bool, device=ids.device))
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))
