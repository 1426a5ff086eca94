# wrong: ge-no-half, sg-no-gate
import math

import torch
import torch.nn.functional as F


def gelu(x, approximate="none"):
    if approximate == "tanh":
        return x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x * (1 + torch.erf(x / math.sqrt(2)))


def swiglu(x, w_gate, w_up, w_down):
    return F.silu(x @ w_gate.T) @ w_down.T
