"""`tiny_gpt`, the reference: a GPT that turns its queries and keys."""

import torch
from torch import nn


def apply_rope(x, positions, base=10000.0):
    """Turn each pair by an angle that grows with the position."""
    d_head = x.size(-1)
    # the numbers 2i: (d_head/2,)
    even = torch.arange(0, d_head, 2, dtype=x.dtype, device=x.device)  # step: even
    exponents = even / d_head  # step: exponents
    rates = base**-exponents  # later pairs turn slower  # step: rates
    # (T, 1) * (d_head/2,) -> (T, d_head/2)
    angles = positions.unsqueeze(1) * rates  # step: angles
    cos, sin = angles.cos(), angles.sin()  # step: waves
    left, right = x[..., 0::2], x[..., 1::2]  # (..., T, d_head/2)  # step: halve
    turned_left = left * cos - right * sin  # step: first
    turned_right = left * sin + right * cos  # step: second
    # (..., T, d_head/2, 2)
    pairs = torch.stack((turned_left, turned_right), dim=-1)  # step: pairs
    return pairs.flatten(-2)  # (..., T, d_head)  # step: give


class SelfAttention(nn.Module):
    """Multi-head self-attention without biases, with rotary positions."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.wq = nn.Linear(d_model, d_model, bias=False)  # step: wq
        self.wk = nn.Linear(d_model, d_model, bias=False)  # step: wk
        self.wv = nn.Linear(d_model, d_model, bias=False)  # step: wv
        self.wo = nn.Linear(d_model, d_model, bias=False)  # step: wo

    def forward(self, x, mask):
        """Let every token gather what it needs where the mask allows."""
        q, k, v = self.wq(x), self.wk(x), self.wv(x)  # (B, T, D)  # step: project
        # (B, T, D) -> (B, H, T, d_head)
        q, k, v = (self.split_heads(part) for part in (q, k, v))  # step: heads
        places = torch.arange(x.size(1), device=x.device)  # (T,)  # step: places
        q = apply_rope(q, places)  # (B, H, T, d_head)  # step: turn_q
        k = apply_rope(k, places)  # step: turn_k
        scores = q @ k.transpose(-2, -1)  # (B, H, T, T)  # step: score
        scores = scores / q.size(-1) ** 0.5  # step: scale
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
    """Attention, then the network, each added to its own input (pre-LN)."""

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.attn = SelfAttention(d_model, num_heads)  # step: attn
        self.ffn = FeedForward(d_model, d_ff)  # step: ffn
        self.norm1 = nn.LayerNorm(d_model)  # step: norm1
        self.norm2 = nn.LayerNorm(d_model)  # step: norm2

    def forward(self, x, mask):
        """Normalise what enters a branch, and add what leaves it."""
        y = self.norm1(x)  # step: pre_norm1
        heard = self.attn(y, mask)  # step: pre_talk
        h = x + heard  # step: pre_sum1
        y = self.norm2(h)  # step: pre_norm2
        thought = self.ffn(y)  # step: pre_think
        return h + thought  # step: pre_sum2


class TinyGPT(nn.Module):
    """From ids to scores for the next token, with no table of positions."""

    def __init__(self, vocab_size, d_model, num_heads, num_layers, d_ff):
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)  # step: tok
        sizes = d_model, num_heads, d_ff
        stack = [TransformerBlock(*sizes) for _ in range(num_layers)]  # step: stack
        self.blocks = nn.ModuleList(stack)  # step: blocks
        self.norm = nn.LayerNorm(d_model)  # step: norm
        nn.init.normal_(self.tok.weight, std=0.02)  # step: start

    def forward(self, ids):
        """Look up, pass the blocks, score every token."""
        x = self.tok(ids)  # (B, T) -> (B, T, D)  # step: look
        length = ids.size(1)
        allowed = torch.ones(length, length, device=ids.device)  # step: ones
        mask = allowed.tril().bool()  # (T, T)  # step: mask
        for block in self.blocks:  # step: chain
            x = block(x, mask)  # (B, T, D)  # step: through
        x = self.norm(x)  # step: last
        return self.head(x)  # (B, T, D) -> (B, T, V)  # step: logits

    def head(self, x):
        """Compare each token with every row of the table."""
        return x @ self.tok.weight.T  # step: rows
