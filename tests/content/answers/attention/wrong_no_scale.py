# wrong: at-no-scale
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    weights = torch.einsum("...qd,...kd->...qk", q, k)
    if mask is not None:
        weights = torch.where(mask, weights, -1e9)
    return torch.einsum("...qk,...kv->...qv", weights.softmax(-1), v)
