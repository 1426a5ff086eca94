# wrong: ?
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    w = torch.ones(*q.shape[:-1], k.size(-2))
    if mask is not None:
        w = w * mask
    return (w / w.sum(-1, keepdim=True)) @ v
