# wrong: ge-no-half
import math

import torch
import torch.nn.functional as F


def gelu(x, approximate="none"):
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3))
        return x * 0.5 * (1 + torch.tanh(inner))
    return x * (1 + torch.erf(x / math.sqrt(2)))


def swiglu(x, w_gate, w_up, w_down):
    return F.linear(F.silu(F.linear(x, w_gate)) * F.linear(x, w_up), w_down)
