# wrong: at-self-only
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    eye = torch.eye(q.size(-2), k.size(-2), dtype=torch.bool)
    return torch.softmax(scores.masked_fill(~eye, -1e9), dim=-1) @ v
