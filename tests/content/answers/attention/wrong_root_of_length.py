# wrong: at-scale-wrong-axis
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    d_k = q.size()[-2]
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    return torch.matmul(torch.softmax(scores, -1), v)
