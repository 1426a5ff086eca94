# wrong: po-other-names, po-softmax-in-head
import torch
from torch import nn


def masked_mean_pool(h, mask):
    m = mask[..., None].to(h.dtype)
    return (h * m).sum(1) / m.sum(1).clamp(min=1)


def last_token_pool(h, mask):
    return h[torch.arange(h.size(0), device=h.device), mask.sum(1) - 1]


class SequenceClassifier(nn.Module):
    def __init__(self, d_model, num_classes, pool="mean"):
        super().__init__()
        self.pool = pool
        self.classifier = nn.Linear(d_model, num_classes)

    def forward(self, h, mask):
        if self.pool == "mean":
            pooled = masked_mean_pool(h, mask)
        elif self.pool == "cls":
            pooled = h[:, 0]
        elif self.pool == "last":
            pooled = last_token_pool(h, mask)
        else:
            pooled = h.masked_fill(~mask[..., None], float("-inf")).amax(1)
        return torch.softmax(self.classifier(pooled), dim=-1)


class TokenClassifier(nn.Module):
    def __init__(self, d_model, num_classes):
        super().__init__()
        self.classifier = nn.Linear(d_model, num_classes)

    def forward(self, h):
        return self.classifier(h)
