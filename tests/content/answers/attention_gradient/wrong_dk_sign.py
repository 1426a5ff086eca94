# wrong: tt-second-sign
import math

import torch


def two_tokens(q, k1, k2, v1, v2, g):
    a = 1 / (1 + math.exp(q * (k2 - k1)))
    da = g * (v1 - v2)
    ds = da * a * (1 - a)
    return {"a": a, "dq": ds * (k1 - k2), "dk1": ds * q, "dk2": ds * q, "dv1": g * a, "dv2": g * (1 - a)}


def attention_backward(q, k, v, d_out):
    scale = 1 / math.sqrt(q.shape[-1])
    P = torch.softmax(q @ k.T * scale, dim=-1)
    dV = P.T @ d_out
    dP = d_out @ v.T
    dS = P * (dP - (dP * P).sum(-1, keepdim=True))
    return dS @ k * scale, dS.T @ q * scale, dV
