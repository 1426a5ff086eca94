# wrong: sc-scale-not-in-gradient
import math

import torch


def row_entropy(weights):
    return -torch.xlogy(weights, weights).sum(-1)


def jacobian_norm(weights):
    j = torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]
    return torch.linalg.norm(j, dim=(-2, -1))


def gradient_by_row(q, k, v, scale, d_out):
    p = torch.softmax(q @ k.T * scale, dim=-1)
    dp = d_out @ v.T
    ds = p * (dp - (dp * p).sum(-1, keepdim=True))
    return torch.linalg.norm(ds @ k, dim=-1)


def readings(heads):
    width = None
    for q, k, v, d_out in heads:
        d_k = q.shape[1]
        raw = gradient_by_row(q, k, v, 1.0, d_out).median()
        scaled = gradient_by_row(q, k, v, 1 / math.sqrt(d_k), d_out).median()
        if raw < scaled:
            width = d_k
            break
    q, k, v, d_out = heads[-1]
    lengths = gradient_by_row(q, k, v, 1.0, d_out)
    return {"width": width, "silent": (lengths < lengths.max() / 100).double().mean().item()}
