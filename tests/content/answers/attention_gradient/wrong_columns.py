# wrong: ab-dot-over-columns, tt-slope-is-a
import math

import torch


def two_tokens(q, k1, k2, v1, v2, g):
    a = math.exp(q * k1) / (math.exp(q * k1) + math.exp(q * k2))
    ds = a * (v1 - v2) * g
    return {"a": a, "dq": ds * (k1 - k2), "dk1": ds * q, "dk2": -ds * q, "dv1": a * g, "dv2": (1 - a) * g}


def attention_backward(q, k, v, d_out):
    c = q.size(-1) ** -0.5
    p = torch.softmax(q @ k.T * c, -1)
    dp = d_out @ v.T
    ds = p * (dp - (p * dp).sum(0, keepdim=True))
    return c * ds @ k, c * ds.T @ q, p.T @ d_out
