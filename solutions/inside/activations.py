"""Activations, the reference: GELU in two forms, and a gated network."""

import math

import torch


def gelu(x, approximate="none"):
    """Let an entry through as far as it is larger than most."""
    # every tensor here has the shape of x
    if approximate == "tanh":  # step: form
        cubic = x + 0.044715 * x**3  # step: cubic
        bent = torch.tanh(math.sqrt(2 / math.pi) * cubic)  # step: tanh
    else:
        bent = torch.erf(x / math.sqrt(2))  # step: erf
    share = 0.5 * (1 + bent)  # between 0 and 1  # step: share
    return x * share  # step: times


def swiglu(x, w_gate, w_up, w_down):
    """Widen twice, let one of the two be the other's gate, narrow."""
    gate = x @ w_gate.T  # (..., D) -> (..., d_ff)  # step: gate
    up = x @ w_up.T  # (..., d_ff)  # step: up
    opened = gate * torch.sigmoid(gate)  # SiLU  # step: open
    hidden = opened * up  # step: hidden
    return hidden @ w_down.T  # (..., d_ff) -> (..., D)  # step: down
