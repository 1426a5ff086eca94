# wrong: en-padding-zeroed
import torch
from torch import nn

from block import TransformerBlock


class Encoder(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)
        self.pos = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(TransformerBlock(d_model, num_heads, d_ff, norm_first=True))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids, lengths=None):
        B, T = ids.shape
        places = torch.arange(T, device=ids.device)
        mask = None
        if lengths is not None:
            mask = (places.expand(B, T) < lengths.view(B, 1)).view(B, 1, 1, T)
        h = self.tok(ids) + self.pos.weight[:T]
        for layer in self.blocks:
            h = layer(h)
            if mask is not None:
                h = h * mask.view(B, T, 1)
        return self.norm(h)
