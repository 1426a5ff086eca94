# right: every piece is an earlier lesson's
from block import TransformerBlock
from causal_mask import causal_mask
from embedding import Embedding
from learned_positions import LearnedPositionalEmbedding
from torch import nn


class GPT(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.tok = Embedding(vocab_size, d_model)
        self.pos = LearnedPositionalEmbedding(max_len, d_model)
        self.blocks = nn.ModuleList([TransformerBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.tok.weight

    def forward(self, ids):
        x = self.pos(self.tok(ids))
        mask = causal_mask(ids.size(1)).to(ids.device)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))
