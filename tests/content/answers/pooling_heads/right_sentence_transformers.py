# right: in the manner of sentence-transformers: an expanded float mask, a sum clamped at 1e-9
import torch
from torch import nn


def masked_mean_pool(h, mask):
    input_mask_expanded = mask.unsqueeze(-1).expand(h.size()).to(h.dtype)
    sum_embeddings = torch.sum(h * input_mask_expanded, 1)
    sum_mask = input_mask_expanded.sum(1)
    sum_mask = torch.clamp(sum_mask, min=1e-9)
    return sum_embeddings / sum_mask


def last_token_pool(h, mask):
    bs, seq_len, hidden_dim = h.shape
    values, indices = torch.max(mask.flip(1).to(torch.int64), dim=1)
    gather_indices = (seq_len - indices - 1).unsqueeze(-1).repeat(1, hidden_dim).unsqueeze(1)
    return torch.gather(h, 1, gather_indices).squeeze(dim=1)


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
            x = torch.max(torch.where(mask.unsqueeze(-1), h, torch.full_like(h, -1e9)), 1)[0]
        return self.head(x)


class TokenClassifier(nn.Module):
    def __init__(self, d_model, num_classes):
        super().__init__()
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, h):
        return self.head(h)
