# wrong: ge-sigmoid
import math

import torch
import torch.nn.functional as F


def gelu(x, approximate="none"):
    return x * torch.sigmoid(1.702 * x)


def swiglu(x, w_gate, w_up, w_down):
    return (F.silu(x @ w_gate.T) * (x @ w_up.T)) @ w_down.T
