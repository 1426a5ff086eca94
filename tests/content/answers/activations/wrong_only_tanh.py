# wrong: ge-tanh-for-exact
import math

import torch
import torch.nn.functional as F


def gelu(x, approximate="none"):
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def swiglu(x, w_gate, w_up, w_down):
    return (F.silu(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T
