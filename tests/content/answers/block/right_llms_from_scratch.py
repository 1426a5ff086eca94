# right: LLMs-from-scratch: shortcut variables, GELU by its erf formula, masked_fill_ on its own scores
import torch
import torch.nn as nn


class GELU(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1.0 + torch.erf(x / torch.sqrt(torch.tensor(2.0, device=x.device, dtype=x.dtype))))


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads, qkv_bias=False):
        super().__init__()
        self.d_out = d_out
        self.num_heads = num_heads
        self.head_dim = d_out // num_heads
        self.wq = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.wk = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.wv = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.wo = nn.Linear(d_out, d_out, bias=False)

    def forward(self, x, mask):
        b, num_tokens, d_in = x.shape
        keys = self.wk(x).view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        values = self.wv(x).view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        queries = self.wq(x).view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        attn_scores = queries @ keys.transpose(2, 3)
        if mask is not None:
            attn_scores.masked_fill_(mask.logical_not(), -torch.inf)
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        context_vec = (attn_weights @ values).transpose(1, 2)
        context_vec = context_vec.contiguous().view(b, num_tokens, self.d_out)
        return self.wo(context_vec)


class FeedForward(nn.Module):
    def __init__(self, emb_dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(emb_dim, hidden)
        self.act = GELU()
        self.w2 = nn.Linear(hidden, emb_dim)

    def forward(self, x):
        return self.w2(self.act(self.w1(x)))


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        self.attn = MultiHeadAttention(d_model, d_model, num_heads)
        self.ffn = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm_first = norm_first

    def forward(self, x, mask=None):
        shortcut = x
        if self.norm_first:
            x = self.norm1(x)
        x = self.attn(x, mask)
        x = x + shortcut
        if not self.norm_first:
            x = self.norm1(x)
        shortcut = x
        if self.norm_first:
            x = self.norm2(x)
        x = self.ffn(x)
        x = x + shortcut
        if not self.norm_first:
            x = self.norm2(x)
        return x
