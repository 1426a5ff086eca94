# wrong: at-mask-late
import torch
import torch.nn as nn


class LayerNorm(nn.Module):
    def __init__(self, emb_dim):
        super().__init__()
        self.eps = 1e-5
        self.weight = nn.Parameter(torch.ones(emb_dim))
        self.bias = nn.Parameter(torch.zeros(emb_dim))

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        var = x.var(dim=-1, keepdim=True, unbiased=False)
        norm_x = (x - mean) / torch.sqrt(var + self.eps)
        return self.weight * norm_x + self.bias


class GELU(nn.Module):
    def forward(self, x):
        return 0.5 * x * (1 + torch.tanh(
            torch.sqrt(torch.tensor(2.0 / torch.pi)) * (x + 0.044715 * torch.pow(x, 3))
        ))


class FeedForward(nn.Module):
    def __init__(self, d_in, d_hidden):
        super().__init__()
        self.w1 = nn.Linear(d_in, d_hidden)
        self.act = GELU()
        self.w2 = nn.Linear(d_hidden, d_in)

    def forward(self, x):
        return self.w2(self.act(self.w1(x)))


class MultiHeadAttention(nn.Module):
    def __init__(self, d_out, num_heads):
        super().__init__()
        assert d_out % num_heads == 0
        self.d_out = d_out
        self.num_heads = num_heads
        self.head_dim = d_out // num_heads
        self.wq = nn.Linear(d_out, d_out, bias=False)
        self.wk = nn.Linear(d_out, d_out, bias=False)
        self.wv = nn.Linear(d_out, d_out, bias=False)
        self.wo = nn.Linear(d_out, d_out, bias=False)

    def forward(self, x, mask):
        b, num_tokens, d_in = x.shape
        keys = self.wk(x).view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        values = self.wv(x).view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        queries = self.wq(x).view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        attn_scores = queries @ keys.transpose(2, 3)
        s = attn_scores / keys.shape[-1] ** 0.5
        attn_weights = torch.exp(s - s.amax(-1, keepdim=True))
        if mask is not None:
            attn_weights = attn_weights * mask
        attn_weights = attn_weights / attn_weights.sum(-1, keepdim=True)
        context_vec = (attn_weights @ values).transpose(1, 2)
        context_vec = context_vec.reshape(b, num_tokens, self.d_out)
        return self.wo(context_vec)


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        self.attn = MultiHeadAttention(d_model, num_heads)
        self.ffn = FeedForward(d_model, d_ff)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
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
