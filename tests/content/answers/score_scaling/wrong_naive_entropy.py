# wrong: sc-entropy-zero-log, sc-mean-for-median
import math

import torch


def row_entropy(weights):
    return -(weights * torch.log(weights)).sum(dim=-1)


def jacobian_norm(weights):
    j = torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]
    return torch.linalg.norm(j, dim=(-2, -1))


def gradient_by_row(q, k, v, scale, d_out):
    q = q.clone().detach().requires_grad_(True)
    out = torch.softmax(scale * q @ k.T, dim=-1) @ v
    (out * d_out).sum().backward()
    return q.grad.norm(dim=-1)


def readings(heads):
    width = None
    for q, k, v, d_out in heads:
        d_k = q.shape[1]
        raw = gradient_by_row(q, k, v, 1.0, d_out).mean()
        scaled = gradient_by_row(q, k, v, 1 / math.sqrt(d_k), d_out).mean()
        if raw < scaled:
            width = d_k
            break
    q, k, v, d_out = heads[-1]
    lengths = gradient_by_row(q, k, v, 1.0, d_out)
    return {"width": width, "silent": (lengths < lengths.max() / 100).double().mean().item()}
