# right: text by text, in Python lists
import torch
from torch import nn


def masked_mean_pool(h, mask):
    rows = []
    for vectors, real in zip(h, mask):
        tokens = vectors[real]
        rows.append(tokens.mean(0) if len(tokens) else vectors.sum(0) * 0)
    return torch.stack(rows)


def last_token_pool(h, mask):
    return torch.stack([vectors[real][-1] for vectors, real in zip(h, mask)])


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
            x = torch.stack([vectors[real].amax(0) for vectors, real in zip(h, mask)])
        return self.head(x)


class TokenClassifier(nn.Module):
    def __init__(self, d_model, num_classes):
        super().__init__()
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, h):
        return self.head(h)
