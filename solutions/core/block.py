"""The transformer block, the reference: two branches, both residual."""

import torch
from torch import nn


class SelfAttention(nn.Module):
    """Multi-head self-attention with separate projections and no bias."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.wq = nn.Linear(d_model, d_model, bias=False)
        self.wk = nn.Linear(d_model, d_model, bias=False)
        self.wv = nn.Linear(d_model, d_model, bias=False)
        self.wo = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        """Let every token gather what it needs where the mask allows."""
        # (B, H, T, d) each
        q = self.split_heads(self.wq(x))
        k = self.split_heads(self.wk(x))
        v = self.split_heads(self.wv(x))
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5  # (B, H, T, T)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        heads = torch.softmax(scores, dim=-1) @ v  # (B, H, T, d)
        # (B, T, H, d) -> (B, T, D)
        return self.wo(heads.transpose(1, 2).flatten(2))

    def split_heads(self, x):
        """Cut the last axis into heads and bring the head axis forward."""
        # (B, T, D) -> (B, T, H, d) -> (B, H, T, d)
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)


class FeedForward(nn.Module):
    """A two-layer MLP, applied to every position by itself."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        """Widen each token, bend it with the exact GELU, narrow it."""
        hidden = nn.functional.gelu(self.w1(x))  # (B, T, d_ff)
        return self.w2(hidden)  # (B, T, D)


class TransformerBlock(nn.Module):
    """Attention, then the network, each added to its own input."""

    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        self.norm_first = norm_first
        self.attn = SelfAttention(d_model, num_heads)
        self.ffn = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        """Pre-LN normalises what enters a branch, post-LN each sum."""
        if self.norm_first:
            x = x + self.attn(self.norm1(x), mask)  # (B, T, D) throughout
            return x + self.ffn(self.norm2(x))
        x = self.norm1(x + self.attn(x, mask))
        return self.norm2(x + self.ffn(x))
