# right: einsum throughout, below no_grad
import math

import torch


def two_tokens(q, k1, k2, v1, v2, g):
    e1, e2 = math.exp(q * k1), math.exp(q * k2)
    a = e1 / (e1 + e2)
    ds = a * (1 - a) * (v1 - v2) * g
    return {"a": a, "dq": ds * (k1 - k2), "dk1": ds * q, "dk2": -ds * q, "dv1": a * g, "dv2": (1 - a) * g}


@torch.no_grad()
def attention_backward(q, k, v, d_out):
    d = q.size(-1)
    w = torch.einsum("id,jd->ij", q, k).div(d**0.5).softmax(-1)
    dw = torch.einsum("ie,je->ij", d_out, v)
    ds = w * dw - w * torch.einsum("ij,ij->i", w, dw)[:, None]
    dq = torch.einsum("ij,jd->id", ds, k) / d**0.5
    dk = torch.einsum("ij,id->jd", ds, q) / d**0.5
    return dq, dk, torch.einsum("ij,ie->je", w, d_out)
