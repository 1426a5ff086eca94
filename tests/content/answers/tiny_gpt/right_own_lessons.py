# right: apply_rope, FeedForward, causal_mask, attention and heads of earlier lessons
import torch
from attention import scaled_dot_product_attention
from causal_mask import causal_mask
from feed_forward import FeedForward
from multi_head import merge_heads, split_heads
from rope import apply_rope
from torch import nn


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.wq = nn.Linear(d_model, d_model, bias=False)
        self.wk = nn.Linear(d_model, d_model, bias=False)
        self.wv = nn.Linear(d_model, d_model, bias=False)
        self.wo = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        T = x.size(1)
        positions = torch.arange(T, device=x.device)
        q = apply_rope(split_heads(self.wq(x), self.num_heads), positions)
        k = apply_rope(split_heads(self.wk(x), self.num_heads), positions)
        v = split_heads(self.wv(x), self.num_heads)
        out = scaled_dot_product_attention(q, k, v, mask=causal_mask(T).to(x.device))
        return self.wo(merge_heads(out))


class Block(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.attn = RotaryAttention(d_model, num_heads)
        self.ffn = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.ffn(self.norm2(x))


class TinyGPT(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList(Block(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)

    def forward(self, ids):
        x = self.tok(ids)
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.tok.weight.T
