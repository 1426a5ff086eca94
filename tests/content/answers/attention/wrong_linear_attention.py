# wrong: ?
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.relu(q @ k.transpose(-2, -1) / q.size(-1) ** 0.5)
    if mask is not None:
        scores = scores * mask
    return scores / (scores.sum(-1, keepdim=True) + 1e-9) @ v
