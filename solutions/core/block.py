"""The transformer block, the reference: two branches, both residual."""

import torch
from torch import nn


class SelfAttention(nn.Module):
    """Multi-head self-attention with separate projections and no bias."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.wq = nn.Linear(d_model, d_model, bias=False)  # step: wq
        self.wk = nn.Linear(d_model, d_model, bias=False)  # step: wk
        self.wv = nn.Linear(d_model, d_model, bias=False)  # step: wv
        self.wo = nn.Linear(d_model, d_model, bias=False)  # step: wo

    def forward(self, x, mask=None):
        """Let every token gather what it needs where the mask allows."""
        q, k, v = self.wq(x), self.wk(x), self.wv(x)  # (B, T, D)  # step: project
        # (B, T, D) -> (B, H, T, d_head)
        q, k, v = (self.split_heads(part) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1)  # (B, H, T, T)  # step: score
        scores = scores / q.size(-1) ** 0.5  # step: scale
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))  # step: hide
        weights = torch.softmax(scores, dim=-1)  # step: weigh
        heads = weights @ v  # (B, H, T, d_head)  # step: blend
        # (B, H, T, d_head) -> (B, T, H, d_head) -> (B, T, D)
        joined = heads.transpose(1, 2).flatten(2)  # step: merge
        return self.wo(joined)  # step: mix

    def split_heads(self, x):
        """Cut the last axis into heads and bring the head axis forward."""
        # (B, T, D) -> (B, T, H, d_head) -> (B, H, T, d_head)
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # step: split


class FeedForward(nn.Module):
    """A two-layer MLP, applied to every position by itself."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)  # step: w1
        self.w2 = nn.Linear(d_ff, d_model)  # step: w2

    def forward(self, x):
        """Widen each token, bend it with the exact GELU, narrow it."""
        hidden = self.w1(x)  # (B, T, D) -> (B, T, d_ff)
        hidden = nn.functional.gelu(hidden)  # step: bend
        return self.w2(hidden)  # (B, T, d_ff) -> (B, T, D)  # step: narrow


class TransformerBlock(nn.Module):
    """Attention, then the network, each added to its own input."""

    def __init__(self, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        self.norm_first = norm_first
        self.attn = SelfAttention(d_model, num_heads)  # step: attn
        self.ffn = FeedForward(d_model, d_ff)  # step: ffn
        self.norm1 = nn.LayerNorm(d_model)  # step: norm1
        self.norm2 = nn.LayerNorm(d_model)  # step: norm2

    def forward(self, x, mask=None):
        """Pre-LN normalises what enters a branch, post-LN each sum."""
        # every tensor here is (B, T, D)
        if self.norm_first:  # step: order
            y = self.norm1(x)  # step: pre_norm1
            heard = self.attn(y, mask)  # step: pre_talk
            h = x + heard  # step: pre_sum1
            y = self.norm2(h)  # step: pre_norm2
            thought = self.ffn(y)  # step: pre_think
            out = h + thought  # step: pre_sum2
        else:
            heard = self.attn(x, mask)  # step: post_talk
            h = x + heard  # step: post_sum1
            h = self.norm1(h)  # step: post_norm1
            thought = self.ffn(h)  # step: post_think
            out = h + thought  # step: post_sum2
            out = self.norm2(out)  # step: post_norm2
        return out  # step: end
