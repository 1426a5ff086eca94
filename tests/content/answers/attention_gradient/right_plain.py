# right: softmax, products, the scale in the scores' gradient
import math

import torch


def two_tokens(q, k1, k2, v1, v2, g):
    e1, e2 = math.exp(q * k1), math.exp(q * k2)
    a = e1 / (e1 + e2)
    ds = a * (1 - a) * (v1 - v2) * g
    return {"a": a, "dq": ds * (k1 - k2), "dk1": ds * q, "dk2": -ds * q, "dv1": a * g, "dv2": (1 - a) * g}


def attention_backward(q, k, v, d_out):
    n = q.shape[-1]
    attn = torch.softmax(q @ k.transpose(0, 1) / math.sqrt(n), dim=1)
    d_attn = d_out @ v.transpose(0, 1)
    d_scores = attn * (d_attn - (attn * d_attn).sum(1, keepdim=True)) / math.sqrt(n)
    return d_scores @ k, d_scores.transpose(0, 1) @ q, attn.transpose(0, 1) @ d_out
