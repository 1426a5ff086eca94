"""A GPT of earlier lessons, for whoever has not solved `gpt` yet and builds two_bits."""

from block import TransformerBlock
from causal_mask import causal_mask
from embedding import Embedding
from learned_positions import LearnedPositionalEmbedding
from torch import nn


class GPT(nn.Module):
    """Embedding, positions, causal blocks, a norm, and the embedding's own table for the logits."""

    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.tok = Embedding(vocab_size, d_model)
        self.pos = LearnedPositionalEmbedding(max_len, d_model)
        self.blocks = nn.ModuleList(TransformerBlock(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids):
        x, mask = self.pos(self.tok(ids)), causal_mask(ids.size(1))  # (B, T, D), (T, T)
        for block in self.blocks:
            x = block(x, mask)
        return self.norm(x) @ self.tok.weight.T  # (B, T, V)
