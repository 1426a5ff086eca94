# wrong: at-one-rank-only
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    B, T, d = q.shape
    scores = torch.bmm(q, k.transpose(1, 2)) / d**0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.bmm(torch.softmax(scores, dim=2), v)
