# right: a dict of functions, and heads written with F.linear
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
        pools = {
            "mean": lambda: masked_mean_pool(h, mask),
            "cls": lambda: h[:, 0, :],
            "last": lambda: last_token_pool(h, mask),
            "max": lambda: (h + torch.zeros_like(h).masked_fill(~mask[:, :, None], -torch.inf)).amax(dim=-2),
        }
        return nn.functional.linear(pools[self.pool](), self.head.weight, self.head.bias)


class TokenClassifier(nn.Module):
    def __init__(self, d_model, num_classes):
        super().__init__()
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, h):
        return self.head(h)
