# wrong: sg-both-bent, sg-added
import torch
import torch.nn.functional as F


def gelu(x, approximate="none"):
    if approximate == "tanh":
        return 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x ** 3)))
    return 0.5 * x * (1 + torch.erf(x / 2 ** 0.5))


def swiglu(x, w_gate, w_up, w_down):
    return F.linear(F.silu(F.linear(x, w_gate)) + F.silu(F.linear(x, w_up)), w_down)
