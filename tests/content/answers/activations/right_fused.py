# right: one product for both ways up
import math

import torch
import torch.nn.functional as F


def gelu(x, approximate="none"):
    if approximate == "tanh":
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x.pow(3))))
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def swiglu(x, w_gate, w_up, w_down):
    both = torch.einsum("...d,fd->...f", x, torch.cat((w_gate, w_up)))
    gate, up = both.chunk(2, dim=-1)
    return torch.einsum("...f,df->...d", gate / (1 + (-gate).exp()) * up, w_down)
