# wrong: gp-buffer-saved
"""GPT, the reference: two tables, causal blocks, a norm, a tied head."""

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
        self.register_buffer('bias', torch.tril(torch.ones(99, 99)))

    def forward(self, x, mask):
        """Let every token gather what it needs where the mask allows."""
        q, k, v = self.wq(x), self.wk(x), self.wv(x)  # (B, T, D)
        # (B, T, D) -> (B, H, T, d_head)
        q, k, v = (self.split_heads(part) for part in (q, k, v))
        scores = q @ k.transpose(-2, -1)  # (B, H, T, T)
        scores = scores / q.size(-1) ** 0.5
        scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        heads = weights @ v  # (B, H, T, d_head)
        # (B, H, T, d_head) -> (B, T, H, d_head) -> (B, T, D)
        joined = heads.transpose(1, 2).flatten(2)
        return self.wo(joined)

    def split_heads(self, x):
        """Cut the last axis into heads and bring the head axis forward."""
        # (B, T, D) -> (B, T, H, d_head) -> (B, H, T, d_head)
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)


class FeedForward(nn.Module):
    """A two-layer MLP, applied to every position by itself."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        """Widen each token, bend it with the exact GELU, narrow it."""
        hidden = self.w1(x)  # (B, T, D) -> (B, T, d_ff)
        hidden = nn.functional.gelu(hidden)
        return self.w2(hidden)  # (B, T, d_ff) -> (B, T, D)


class TransformerBlock(nn.Module):
    """Attention, then the network, each added to its own input (pre-LN)."""

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.attn = SelfAttention(d_model, num_heads)
        self.ffn = FeedForward(d_model, d_ff)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)

    def forward(self, x, mask):
        """Normalise what enters a branch, and add what leaves it."""
        y = self.norm1(x)
        heard = self.attn(y, mask)
        h = x + heard
        y = self.norm2(h)
        thought = self.ffn(y)
        return h + thought


class GPT(nn.Module):
    """From ids to scores for the next token, at every place at once."""

    def __init__(
        self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff
    ):  # fmt: skip
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)
        self.pos = nn.Embedding(max_len, d_model)
        sizes = d_model, num_heads, d_ff
        stack = [TransformerBlock(*sizes) for _ in range(num_layers)]
        self.blocks = nn.ModuleList(stack)
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.tok.weight  # one tensor, two names

    def forward(self, ids):
        """Look up, add the places, pass the blocks, score every token."""
        length, longest = ids.size(1), self.pos.weight.size(0)
        if length > longest:
            raise ValueError(f"{length} tokens, at most {longest}")
        x = self.tok(ids)  # (B, T) -> (B, T, D)
        x = x + self.pos.weight[:length]  # (B, T, D) + (T, D)
        allowed = torch.ones(length, length, device=ids.device)
        mask = allowed.tril().bool()  # (T, T)
        for block in self.blocks:
            x = block(x, mask)  # (B, T, D)
        x = self.norm(x)
        return self.head(x)  # (B, T, D) -> (B, T, V)
