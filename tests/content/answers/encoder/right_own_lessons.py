# right: every piece is an earlier lesson's
from block import TransformerBlock
from embedding import Embedding
from learned_positions import LearnedPositionalEmbedding
from padding_mask import padding_mask
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.tok = Embedding(vocab_size, d_model)
        self.pos = LearnedPositionalEmbedding(max_len, d_model)
        self.blocks = nn.ModuleList([TransformerBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids, lengths=None):
        x = self.pos(self.tok(ids))
        mask = None if lengths is None else padding_mask(lengths, ids.size(1))
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x)
