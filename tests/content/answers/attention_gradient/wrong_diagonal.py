# wrong: ab-diagonal-only, tt-tokens-apart
import math

import torch


def two_tokens(q, k1, k2, v1, v2, g):
    a = math.exp(q * k1) / (math.exp(q * k1) + math.exp(q * k2))
    s1 = g * v1 * a * (1 - a)
    s2 = g * v2 * (1 - a) * a
    return {"a": a, "dq": s1 * k1 + s2 * k2, "dk1": s1 * q, "dk2": s2 * q, "dv1": a * g, "dv2": (1 - a) * g}


def attention_backward(q, k, v, d_out):
    s = q.size(-1) ** 0.5
    p = torch.softmax(q @ k.T / s, -1)
    dp = d_out @ v.T
    ds = dp * p * (1 - p)
    return ds @ k / s, ds.T @ q / s, p.T @ d_out
