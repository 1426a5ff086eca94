# wrong: ab-dot-term-missing, tt-sign
import math

import torch


def two_tokens(q, k1, k2, v1, v2, g):
    a = math.exp(q * k1) / (math.exp(q * k1) + math.exp(q * k2))
    ds = a * (1 - a) * (v2 - v1) * g
    return {"a": a, "dq": ds * (k1 - k2), "dk1": ds * q, "dk2": -ds * q, "dv1": a * g, "dv2": (1 - a) * g}


def attention_backward(q, k, v, d_out):
    p = torch.softmax(q @ k.T / q.size(-1) ** 0.5, -1)
    ds = p * (d_out @ v.T) / q.size(-1) ** 0.5
    return ds @ k, ds.T @ q, p.T @ d_out
