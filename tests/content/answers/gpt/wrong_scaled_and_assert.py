# wrong: gp-embedding-scaled, lp-no-check
import torch
from torch import nn

from block import TransformerBlock


class GPT(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.block_size = max_len
        self.tok = nn.Embedding(vocab_size, d_model)
        self.pos = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList([TransformerBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.tok.weight = self.head.weight
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, ids):
        device = ids.device
        b, t = ids.size()
        if t > self.block_size:
            raise AssertionError("too long")
        pos = torch.arange(0, t, dtype=torch.long, device=device)
        x = self.tok(ids) * self.pos.embedding_dim ** 0.5 + self.pos(pos)
        mask = torch.tril(torch.ones(t, t, dtype=torch.bool, device=device))
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))
