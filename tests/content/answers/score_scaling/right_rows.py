# right: row by row
import math

import torch


def row_entropy(weights):
    safe = weights.clamp_min(torch.finfo(weights.dtype).tiny)
    return -(weights * torch.log(safe)).sum(-1)


def jacobian_norm(weights):
    flat = weights.reshape(-1, weights.shape[-1])
    found = [torch.linalg.matrix_norm(torch.diag(p) - torch.outer(p, p)) for p in flat]
    return torch.stack(found).reshape(weights.shape[:-1])


def gradient_by_row(q, k, v, scale, d_out):
    found = []
    for row, pull in zip(q, d_out):
        p = torch.softmax(k @ row * scale, dim=0)
        ds = (torch.diag(p) - torch.outer(p, p)) @ (v @ pull)
        found.append(scale * torch.linalg.vector_norm(k.T @ ds))
    return torch.stack(found)


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
