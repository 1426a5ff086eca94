# wrong: gp-other-names
import torch
from block import TransformerBlock
from torch import nn


class GPT(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.max_len = max_len
        self.wte = nn.Embedding(vocab_size, d_model)
        self.wpe = nn.Embedding(max_len, d_model)
        self.h = nn.ModuleList([TransformerBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.ln_f = nn.LayerNorm(d_model)
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, ids):
        B, T = ids.shape
        if T > self.max_len:
            raise ValueError(f"{T} tokens do not fit into {self.max_len} places")
        x = self.wte(ids) + self.wpe(torch.arange(T, device=ids.device))
        mask = torch.tril(torch.ones(T, T, dtype=torch.bool, device=ids.device))
        for block in self.h:
            x = block(x, mask)
        return self.lm_head(self.ln_f(x))
