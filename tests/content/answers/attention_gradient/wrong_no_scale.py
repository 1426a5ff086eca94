# wrong: ab-scale-missing
import math

import torch


def two_tokens(q, k1, k2, v1, v2, g):
    e1, e2 = math.exp(q * k1), math.exp(q * k2)
    a = e1 / (e1 + e2)
    ds = a * (1 - a) * (v1 - v2) * g
    return {"a": a, "dq": ds * (k1 - k2), "dk1": ds * q, "dk2": -ds * q, "dv1": a * g, "dv2": (1 - a) * g}


def attention_backward(q, k, v, d_out):
    attn = torch.softmax(torch.mm(q, k.T) / q.size(1) ** 0.5, dim=1)
    grad_attn = torch.mm(d_out, v.T)
    inner = torch.sum(grad_attn * attn, dim=1, keepdim=True)
    grad_scores = attn * (grad_attn - inner)
    return torch.mm(grad_scores, k), torch.mm(grad_scores.T, q), torch.mm(attn.T, d_out)
