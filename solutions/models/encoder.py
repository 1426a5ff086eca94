"""An encoder, the reference: tables, blocks that see no padding, a norm."""

import torch
from torch import nn


def padding_mask(lengths, max_len):
    """Hide the keys that only fill a text up."""
    places = torch.arange(max_len, device=lengths.device)  # (S,)  # step: places
    real = places < lengths.unsqueeze(1)  # (S,) < (B, 1) -> (B, S)  # step: real
    # (B, 1, 1, S)
    return real[:, None, None, :]  # step: give


class SelfAttention(nn.Module):
    """Multi-head self-attention with separate projections and no bias."""

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


class Encoder(nn.Module):
    """From ids to a vector for every token that knows its whole text."""

    def __init__(
        self, vocab_size, max_len, d_model, num_heads, num_layers, d_ff
    ):  # fmt: skip
        super().__init__()
        self.tok = nn.Embedding(vocab_size, d_model)  # step: tok
        self.pos = nn.Embedding(max_len, d_model)  # step: pos
        sizes = d_model, num_heads, d_ff
        stack = [TransformerBlock(*sizes) for _ in range(num_layers)]  # step: stack
        self.blocks = nn.ModuleList(stack)  # step: blocks
        self.norm = nn.LayerNorm(d_model)  # step: norm

    def forward(self, ids, lengths=None):
        """Look up, add the places, pass the blocks, normalise once more."""
        length = ids.size(1)  # step: length
        mask = None  # step: free
        if lengths is not None:  # step: given
            mask = padding_mask(lengths, length)  # (B, 1, 1, T)  # step: mask
        x = self.tok(ids)  # (B, T) -> (B, T, D)  # step: look
        x = x + self.pos.weight[:length]  # (B, T, D) + (T, D)  # step: place
        for block in self.blocks:  # step: chain
            x = block(x, mask)  # (B, T, D)  # step: through
        return self.norm(x)  # step: last
