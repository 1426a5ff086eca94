# wrong: forbidden-call
import math

import torch
import torch.nn.functional as F


def gelu(x, approximate="none"):
    return F.gelu(x, approximate=approximate)


def swiglu(x, w_gate, w_up, w_down):
    return (F.silu(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T
