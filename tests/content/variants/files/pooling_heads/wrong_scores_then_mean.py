# wrong: po-average-probs
import torch
from torch import nn


def masked_mean_pool(h, mask):
    m = mask.float().to(h.dtype)[:, :, None]
    return (m * h).sum(1) / torch.maximum(m.sum(1), torch.ones_like(m[:, 0]))


def last_token_pool(h, mask):
    ends = mask.sum(1) - 1
    return h.gather(1, ends[:, None, None].expand(-1, 1, h.size(-1)))[:, 0]


class SequenceClassifier(nn.Module):
    def __init__(self, d_model, num_classes, pool="mean"):
        super().__init__()
        self.how = pool
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, h, mask):
        if self.how == "mean":
            scores = self.head(h)
            return masked_mean_pool(scores, mask)
        if self.how == "cls":
            z = h[:, 0]
        elif self.how == "last":
            z = last_token_pool(h, mask)
        else:
            z = torch.where(mask[:, :, None], h, float("-inf")).max(dim=1).values
        return self.head(z)


class TokenClassifier(nn.Module):
    def __init__(self, d_model, num_classes):
        super().__init__()
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, h):
        return self.head(h)
