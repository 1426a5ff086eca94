# right: einsum, and weights that sum to 1
import torch
from torch import nn


def masked_mean_pool(h, mask):
    w = mask.to(h.dtype)
    w = w / w.sum(-1, keepdim=True).clamp_min(1)
    return torch.einsum("bt,btd->bd", w, h)


def last_token_pool(h, mask):
    lengths = mask.long().sum(dim=-1)
    w = nn.functional.one_hot(lengths - 1, h.shape[1]).to(h.dtype)
    return torch.einsum("bt,btd->bd", w, h)


class SequenceClassifier(nn.Module):
    def __init__(self, d_model, num_classes, pool="mean"):
        super().__init__()
        self.pool = pool
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, h, mask):
        if self.pool == "mean":
            x = masked_mean_pool(h, mask)
        elif self.pool == "cls":
            x = h[:, 0]
        elif self.pool == "last":
            x = last_token_pool(h, mask)
        elif self.pool == "max":
            x = h.masked_fill(~mask.unsqueeze(-1), float("-inf")).max(dim=1).values
        return self.head(x)


class TokenClassifier(nn.Module):
    def __init__(self, d_model, num_classes):
        super().__init__()
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, h):
        return torch.einsum("btd,cd->btc", h, self.head.weight) + self.head.bias
