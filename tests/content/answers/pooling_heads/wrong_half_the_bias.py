# wrong: ?
import torch
from torch import nn


def masked_mean_pool(h, mask):
    m = mask.unsqueeze(-1).float().to(h.dtype)
    return (h * m).sum(1) / m.sum(1).clamp(min=1)


def last_token_pool(h, mask):
    idx = mask.sum(1) - 1
    return h[torch.arange(h.size(0), device=h.device), idx]


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
        return self.head(h) - 0.5 * self.head.bias
