# right: reuses multi_head_attention of the lesson before
from multi_head import multi_head_attention
from torch import nn
from torch.nn.functional import gelu


class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.wq = nn.Linear(d_model, d_model, bias=False)
        self.wk = nn.Linear(d_model, d_model, bias=False)
        self.wv = nn.Linear(d_model, d_model, bias=False)
        self.wo = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        weights = [layer.weight for layer in (self.wq, self.wk, self.wv, self.wo)]
        return multi_head_attention(x, *weights, self.num_heads, mask)


class Network(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.w2(gelu(self.w1(x)))


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        self.norm_first = norm_first
        self.attn = Attention(d_model, num_heads)
        self.ffn = Network(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model, eps=1e-5)
        self.norm2 = nn.LayerNorm(d_model, eps=1e-5)

    def forward(self, x, mask=None):
        return self._pre(x, mask) if self.norm_first else self._post(x, mask)

    def _pre(self, x, mask):
        h = x + self.attn(self.norm1(x), mask)
        return h + self.ffn(self.norm2(h))

    def _post(self, x, mask):
        h = self.norm1(x + self.attn(x, mask))
        return self.norm2(h + self.ffn(h))
