# wrong: emb-other-name, emb-sqrt-d
from torch import nn


class Embedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.table = nn.Embedding(vocab_size, d_model)
        self.scale = d_model ** 0.5

    def forward(self, ids):
        return self.table(ids) * self.scale
