# wrong: en-causal
import torch
from block import TransformerBlock
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)
        self.pos = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([TransformerBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids, lengths=None):
        B, T = ids.shape
        places = torch.arange(T, device=ids.device)
        mask = torch.tril(torch.ones(T, T, dtype=torch.bool, device=ids.device))
        if lengths is not None:
            mask = (places < lengths[:, None])[:, None, None, :]
        x = self.tok(ids) + self.pos(places)
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x)
