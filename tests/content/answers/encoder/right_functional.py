# right: parameters and functions only where a module is not needed
import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.h, self.d = num_heads, d_model
        self.tok, self.pos = nn.Embedding(vocab_size, d_model), nn.Embedding(max_len, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            attn = nn.ModuleDict({k: nn.Linear(d_model, d_model, bias=False) for k in ("wq", "wk", "wv", "wo")})
            ffn = nn.ModuleDict({"w1": nn.Linear(d_model, d_ff), "w2": nn.Linear(d_ff, d_model)})
            norms = {"norm1": nn.LayerNorm(d_model), "norm2": nn.LayerNorm(d_model)}
            self.blocks.append(nn.ModuleDict({"attn": attn, "ffn": ffn, **norms}))

    def forward(self, ids, lengths=None):
        x = F.embedding(ids, self.tok.weight) + self.pos.weight.narrow(0, 0, ids.size(1))
        bias = torch.zeros(len(ids), 1, 1, ids.size(1)).to(x)
        if lengths is not None:
            for b in range(len(ids)):
                bias[b, :, :, lengths[b] :] = float("-inf")
        for blk in self.blocks:
            a, f = blk["attn"], blk["ffn"]
            y = blk["norm1"](x)
            heads = []
            for q, k, v in zip(*(a[n](y).chunk(self.h, dim=-1) for n in ("wq", "wk", "wv"))):
                s = torch.einsum("btd,bsd->bts", q, k) * (self.d // self.h) ** -0.5 + bias[:, 0]
                heads.append(torch.einsum("bts,bsd->btd", s.softmax(-1), v))
            x = x + a["wo"](torch.cat(heads, dim=-1))
            x = x + f["w2"](F.gelu(f["w1"](blk["norm2"](x))))
        return self.norm(x)
