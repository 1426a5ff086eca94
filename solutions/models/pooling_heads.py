"""Pooling and heads, the reference: tokens only, then a Linear."""

import torch
from torch import nn


def masked_mean_pool(h, mask):
    """Average the vectors of each text's tokens."""
    weights = mask.unsqueeze(-1).to(h.dtype)  # (B, T, 1)  # step: weights
    total = (h * weights).sum(dim=1)  # (B, T, D) -> (B, D)  # step: total
    count = weights.sum(dim=1)  # (B, T, 1) -> (B, 1)  # step: count
    count = count.clamp(min=1)  # no 0/0 without a token  # step: clamp
    return total / count  # (B, D)  # step: mean


def last_token_pool(h, mask):
    """Take the vector of each text's last token."""
    last = mask.sum(dim=1) - 1  # (B, T) -> (B,)  # step: last
    texts = torch.arange(len(h), device=h.device)  # (B,)  # step: texts
    return h[texts, last]  # (B, D)  # step: pick


class SequenceClassifier(nn.Module):
    """One label a text: pool its vectors, then score the classes."""

    def __init__(self, d_model, num_classes, pool="mean"):
        super().__init__()
        self.pool = pool  # step: pool
        self.head = nn.Linear(d_model, num_classes)  # step: head

    def forward(self, h, mask):
        """Pool as was asked for, and score."""
        if self.pool == "mean":  # step: is_mean
            pooled = masked_mean_pool(h, mask)  # (B, D)  # step: by_mean
        elif self.pool == "cls":  # step: is_cls
            pooled = h[:, 0]  # (B, D)  # step: by_cls
        elif self.pool == "last":  # step: is_last
            pooled = last_token_pool(h, mask)  # (B, D)  # step: by_last
        else:
            padding = ~mask.unsqueeze(-1)  # (B, T, 1)  # step: padding
            tokens = h.masked_fill(padding, float("-inf"))  # step: hide
            pooled = tokens.max(dim=1).values  # -> (B, D)  # step: by_max
        return self.head(pooled)  # (B, D) -> (B, C)  # step: logits


class TokenClassifier(nn.Module):
    """One label a token: score the classes at every place by itself."""

    def __init__(self, d_model, num_classes):
        super().__init__()
        self.head = nn.Linear(d_model, num_classes)  # step: token_head

    def forward(self, h):
        """Score every place."""
        return self.head(h)  # (B, T, D) -> (B, T, C)  # step: token_logits
