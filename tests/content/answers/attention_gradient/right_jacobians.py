# right: a Jacobian for each row, in loops
import math

import torch


def two_tokens(q, k1, k2, v1, v2, g):
    p = torch.softmax(torch.tensor([q * k1, q * k2], dtype=torch.float64), dim=0)
    jac = torch.diag(p) - torch.outer(p, p)
    ds = jac @ torch.tensor([g * v1, g * v2], dtype=torch.float64)
    dq = (ds * torch.tensor([k1, k2], dtype=torch.float64)).sum().item()
    return {"a": p[0].item(), "dq": dq, "dk1": ds[0].item() * q, "dk2": ds[1].item() * q,
            "dv1": g * p[0].item(), "dv2": g * p[1].item()}


def attention_backward(q, k, v, d_out):
    dq, dk, dv = (torch.zeros_like(x) for x in (q, k, v))
    for i in range(q.shape[0]):
        p = (q[i] @ k.T / q.shape[1] ** 0.5).softmax(0)
        dp = v @ d_out[i]
        ds = (torch.diag(p) - p[:, None] * p[None]) @ dp / q.shape[1] ** 0.5
        dq[i] = ds @ k
        for j in range(k.shape[0]):
            dk[j] += ds[j] * q[i]
            dv[j] += p[j] * d_out[i]
    return dq, dk, dv
