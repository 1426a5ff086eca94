# wrong: at-no-scale, at-mask-after-softmax, at-qk-swapped
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.softmax(k @ q.transpose(-2, -1), dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights @ v
