# right: the normal distribution, and F.linear
import math

import torch
import torch.nn.functional as F


def gelu(x, approximate="none"):
    if approximate == "none":
        return x * torch.special.ndtr(x)
    k = (2 / torch.pi) ** 0.5
    return x * torch.sigmoid(2 * k * (x + 0.044715 * torch.pow(x, 3)))


def swiglu(x, w_gate, w_up, w_down):
    gate, up = F.linear(x, w_gate), F.linear(x, w_up)
    return F.linear(gate * gate.sigmoid() * up, w_down)
