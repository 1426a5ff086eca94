# wrong: sc-entropy-bits, sc-jacobian-diagonal
import math

import torch


def row_entropy(weights):
    return -(weights * weights.clamp(min=1e-20).log2()).sum(-1)


def jacobian_norm(weights):
    return (weights * (1 - weights)).norm(dim=-1)


def gradient_by_row(q, k, v, scale, d_out):
    q = q.clone().detach().requires_grad_(True)
    out = torch.softmax(scale * q @ k.T, dim=-1) @ v
    (out * d_out).sum().backward()
    return q.grad.norm(dim=-1)


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
