# wrong: lp-other-name, lp-backwards
import torch
from torch import nn


class LearnedPositionalEmbedding(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.pos_emb = nn.Embedding(max_len, d_model)

    def forward(self, x):
        T = x.shape[1]
        if T > self.pos_emb.num_embeddings:
            raise ValueError("too long")
        return x + self.pos_emb(torch.arange(T - 1, -1, -1, device=x.device))
