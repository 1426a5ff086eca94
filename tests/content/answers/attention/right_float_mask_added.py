# right: makes 1 and −∞ of the mask and adds that: all allowed scores rise alike, which softmax does not see
import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    if mask is not None:
        mask = mask.to(scores.dtype).masked_fill(mask == 0, float("-inf"))
        scores = scores + mask
    weights = torch.softmax(scores, dim=-1)
    return torch.matmul(weights, v)
