# right: no mask at all: each text alone, cut to its length, and zeros behind it
from block import TransformerBlock
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Encoder(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)
        self.pos = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(TransformerBlock(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)

    def encode_one(self, text):
        x = self.tok(text)[None] + self.pos.weight[: len(text)]
        for block in self.blocks:
            x = block(x)
        return self.norm(x)[0]

    def forward(self, ids, lengths=None):
        T = ids.size(1)
        sizes = [T] * len(ids) if lengths is None else lengths.tolist()
        rows = [self.encode_one(text[:n]) for text, n in zip(ids, sizes)]
        out = pad_sequence(rows, batch_first=True)
        return nn.functional.pad(out, (0, 0, 0, T - out.size(1)))
