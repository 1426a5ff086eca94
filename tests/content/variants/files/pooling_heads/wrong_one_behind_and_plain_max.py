# wrong: po-off-by-one, po-max-of-padding
import torch
from torch import nn


def masked_mean_pool(h, mask):
    m = mask.unsqueeze(-1).to(h.dtype)
    return (h * m).sum(1) / m.sum(1).clamp(min=1)


def last_token_pool(h, mask):
    n = mask.sum(1).clamp(max=h.size(1) - 1)
    return h[torch.arange(h.size(0), device=h.device), n]


class SequenceClassifier(nn.Module):
    def __init__(self, d_model, num_classes, pool="mean"):
        super().__init__()
        self.pool = pool
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, h, mask):
        if self.pool == "mean":
            p = masked_mean_pool(h, mask)
        elif self.pool == "cls":
            p = h[:, 0]
        elif self.pool == "last":
            p = last_token_pool(h, mask)
        else:
            p = h.max(dim=1).values
        return self.head(p)


class TokenClassifier(nn.Module):
    def __init__(self, d_model, num_classes):
        super().__init__()
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, h):
        return self.head(h)
