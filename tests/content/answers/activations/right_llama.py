# right: in the manner of Llama, a module inside
import math

import torch
import torch.nn.functional as F


def gelu(x, approximate="none"):
    cdf = {
        "none": lambda t: 0.5 * (1.0 + torch.erf(t * 2**-0.5)),
        "tanh": lambda t: 0.5 * (1.0 + torch.tanh(0.7978845608028654 * t * (1.0 + 0.044715 * t * t))),
    }[approximate]
    return x * cdf(x)


def swiglu(x, w_gate, w_up, w_down):
    class MLP(torch.nn.Module):
        def forward(self, h):
            return self.down(torch.nn.SiLU()(self.gate(h)) * self.up(h))

        gate = staticmethod(lambda h: h.matmul(w_gate.t()))
        up = staticmethod(lambda h: h.matmul(w_up.t()))
        down = staticmethod(lambda h: h.matmul(w_down.t()))

    return MLP()(x)
