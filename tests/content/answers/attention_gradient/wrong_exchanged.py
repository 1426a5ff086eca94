# wrong: ab-dq-dk-exchanged, tt-dq-dk-exchanged
import math

import torch


def two_tokens(q, k1, k2, v1, v2, g):
    a = 1 / (1 + math.exp(q * k2 - q * k1))
    ds = g * (v1 - v2) * a * (1 - a)
    return {"a": a, "dq": ds * k1 - ds * k2, "dk1": ds * k1, "dk2": -ds * k2, "dv1": g * a, "dv2": g * (1 - a)}


def attention_backward(q, k, v, d_out):
    s = q.size(-1) ** 0.5
    p = torch.softmax(q @ k.T / s, -1)
    dp = d_out @ v.T
    ds = p * (dp - (dp * p).sum(-1, keepdim=True)) / s
    dk, dq = ds @ k, ds.T @ q
    return dq, dk, p.T @ d_out
