# wrong: ab-dv-not-transposed, tt-one-way
import math

import torch


def two_tokens(q, k1, k2, v1, v2, g):
    a = 1 / (1 + math.exp(-(q * k1 - q * k2)))
    ds = g * (v1 - v2) * a * (1 - a)
    return {"a": a, "dq": ds * k1, "dk1": ds * q, "dk2": -ds * q, "dv1": g * a, "dv2": g - g * a}


def attention_backward(q, k, v, d_out):
    root = q.shape[1] ** 0.5
    p = torch.softmax(q @ k.T / root, dim=-1)
    dv = p @ d_out
    dp = d_out @ v.T
    ds = (dp - (dp * p).sum(-1, keepdim=True)) * p / root
    return ds @ k, ds.T @ q, dv
