# wrong: at-softmax-batch-or-head
import torch
import torch.nn as nn


def scaled_dot_product_attention(q, k, v, mask=None):
    softmax = nn.Softmax(dim=1)
    scores = torch.matmul(q, k.transpose(-2, -1)) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    return torch.matmul(softmax(scores), v)
