# right: nanoGPT: flash attention, the weights fused on the fly, tanh GELU
import torch
import torch.nn as nn
from torch.nn import functional as F


class CausalSelfAttention(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.n_head, self.n_embd = n_head, n_embd
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(n_embd, n_embd, bias=False) for _ in range(4))
        self.resid_dropout = nn.Dropout(0.0)

    def forward(self, x, mask=None):
        B, T, C = x.size()
        c_attn = torch.cat([self.wq.weight, self.wk.weight, self.wv.weight], dim=0)
        q, k, v = F.linear(x, c_attn).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=0.0)
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.wo(y))


class MLP(nn.Module):
    def __init__(self, n_embd, n_hidden):
        super().__init__()
        self.w1 = nn.Linear(n_embd, n_hidden)
        self.gelu = nn.GELU(approximate="tanh")
        self.w2 = nn.Linear(n_hidden, n_embd)

    def forward(self, x):
        x = self.w1(x)
        x = self.gelu(x)
        x = self.w2(x)
        return x


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)
        self.attn = CausalSelfAttention(d_model, num_heads)
        self.norm2 = nn.LayerNorm(d_model)
        self.ffn = MLP(d_model, d_ff)
        self.forward = self.pre if norm_first else self.post

    def pre(self, x, mask=None):
        x = x + self.attn(self.norm1(x), mask)
        x = x + self.ffn(self.norm2(x))
        return x

    def post(self, x, mask=None):
        x = self.norm1(x + self.attn(x, mask))
        x = self.norm2(x + self.ffn(x))
        return x
