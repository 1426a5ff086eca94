# wrong: sg-gate-on-up, sg-gelu-gate
import torch
import torch.nn.functional as F


def gelu(x, approximate="none"):
    if approximate == "tanh":
        return 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))
    return x * torch.special.ndtr(x)


def swiglu(x, w_gate, w_up, w_down):
    up = F.linear(x, w_up)
    up = up * torch.special.ndtr(up)
    return F.linear(F.linear(x, w_gate) * up, w_down)
