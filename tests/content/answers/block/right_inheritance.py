# right: a subclass of its own base class; moduledict for the projections; dropout from torch in its usual places
import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, norm, branch, norm_first):
        super().__init__()
        object.__setattr__(self, "norm", norm)  # owned by the block, used here
        object.__setattr__(self, "branch", branch)
        self.norm_first = norm_first

    def forward(self, x, *args):
        if self.norm_first:
            return x + self.branch(self.norm(x), *args)
        return self.norm(x + self.branch(x, *args))


class SelfAttention(nn.ModuleDict):
    def __init__(self, d_model, num_heads, p=0.0):
        super().__init__({name: nn.Linear(d_model, d_model, bias=False) for name in ("wq", "wk", "wv", "wo")})
        self.num_heads = num_heads
        self.p = p

    def forward(self, x, mask=None):
        B, T, D = x.shape
        q, k, v = (self[n](x).reshape(B, T, self.num_heads, -1).swapaxes(1, 2) for n in ("wq", "wk", "wv"))
        scores = (q * q.shape[-1] ** -0.5) @ k.swapaxes(-1, -2)
        if mask is not None:
            scores = torch.where(mask, scores, -1e9)
        weights = nn.functional.dropout(scores.softmax(-1), self.p, self.training)
        return self["wo"]((weights @ v).swapaxes(1, 2).reshape(B, T, D))


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        self.attn = SelfAttention(d_model, num_heads)
        self.ffn = nn.Sequential()
        self.ffn.add_module("w1", nn.Linear(d_model, d_ff))
        self.ffn.add_module("gelu", nn.GELU())
        self.ffn.add_module("w2", nn.Linear(d_ff, d_model))
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.first = Residual(self.norm1, self.attn, norm_first)
        self.second = Residual(self.norm2, self.ffn, norm_first)

    def forward(self, x, mask=None):
        return self.second(self.first(x, mask))
