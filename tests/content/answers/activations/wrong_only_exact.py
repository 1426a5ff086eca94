# wrong: ge-exact-for-tanh
import math

import torch
import torch.nn.functional as F


def gelu(x, approximate="none"):
    return x * 0.5 * (1 + torch.erf(x / 2**0.5))


def swiglu(x, w_gate, w_up, w_down):
    return (F.silu(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T
