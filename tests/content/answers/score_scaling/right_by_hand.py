# right: by hand, with loops where they read well
import math

import torch


def row_entropy(weights):
    logs = torch.where(weights > 0, weights, torch.ones_like(weights)).log()
    return (weights * -logs).sum(dim=-1)


def jacobian_norm(weights):
    p2 = (weights * weights).sum(dim=-1)
    p3 = (weights**3).sum(dim=-1)
    return (p2 - 2 * p3 + p2 * p2).clamp(min=0.0) ** 0.5


def gradient_by_row(q, k, v, scale, d_out):
    a = (scale * torch.einsum("td,sd->ts", q, k)).softmax(dim=1)
    o = a @ v
    da = d_out @ v.t()
    ds = a * (da - (d_out * o).sum(1, keepdim=True))
    return (ds @ k * scale).pow(2).sum(1).sqrt()


def readings(heads):
    fits = []
    for q, k, v, d_out in heads:
        d_k = q.size(-1)
        medians = [gradient_by_row(q, k, v, s, d_out).median().item() for s in (1.0, d_k**-0.5)]
        if medians[0] < medians[1]:
            fits.append(d_k)
    q, k, v, d_out = heads[len(heads) - 1]
    g = gradient_by_row(q, k, v, 1.0, d_out).tolist()
    return dict(width=min(fits, default=None), silent=sum(x < 0.01 * max(g) for x in g) / len(g))
