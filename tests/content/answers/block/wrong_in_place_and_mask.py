# wrong: bl-in-place, bl-mask-not-passed
import torch
from torch import nn
from torch.nn import functional as F


class CausalSelfAttention(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.n_head = n_head
        for name in ("wq", "wk", "wv", "wo"):
            setattr(self, name, nn.Linear(n_embd, n_embd, bias=False))

    def heads(self, y):
        B, T, C = y.shape
        return y.reshape(B, T, self.n_head, C // self.n_head).permute(0, 2, 1, 3)

    def forward(self, x, mask=None):
        q, k, v = self.heads(self.wq(x)), self.heads(self.wk(x)), self.heads(self.wv(x))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.wo(y.permute(0, 2, 1, 3).flatten(2))


class MLP(nn.Module):
    def __init__(self, n_embd, n_hidden):
        super().__init__()
        self.w1 = nn.Linear(n_embd, n_hidden)
        self.act = nn.GELU()
        self.w2 = nn.Linear(n_hidden, n_embd)

    def forward(self, x):
        return self.w2(self.act(self.w1(x)))


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attn = CausalSelfAttention(d_model, num_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.ffn = MLP(d_model, d_ff)
        self.norm_first = norm_first

    def forward(self, x, mask=None):
        if self.norm_first:
            x += self.attn(self.norm1(x))
            x += self.ffn(self.norm2(x))
            return x
        x += self.attn(x)
        h = self.norm1(x)
        h += self.ffn(h)
        return self.norm2(h)
