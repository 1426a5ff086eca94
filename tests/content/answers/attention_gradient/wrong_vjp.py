# wrong: forbidden-call
import math

import torch


def two_tokens(q, k1, k2, v1, v2, g):
    e1, e2 = math.exp(q * k1), math.exp(q * k2)
    a = e1 / (e1 + e2)
    ds = a * (1 - a) * (v1 - v2) * g
    return {"a": a, "dq": ds * (k1 - k2), "dk1": ds * q, "dk2": -ds * q, "dv1": a * g, "dv2": (1 - a) * g}


def attention_backward(q, k, v, d_out):
    def forward(q, k, v):
        return torch.softmax(q @ k.T / q.size(-1) ** 0.5, -1) @ v

    _, pull = torch.func.vjp(forward, q, k, v)
    return pull(d_out)
