# wrong: exception
import torch
from torch.nn import functional as F

LOW, STEP = 12.0, 1e-2
GRID = torch.arange(-1200, 1201, dtype=torch.float64) * STEP
TABLE = {}

OTHER = TABLE
for form in ("none", "tanh"):
    OTHER[form] = F.gelu(GRID, approximate=form)

def gelu(x, approximate="none"):
    y = TABLE[approximate]
    z = x.double().clamp(-11.9, 11.9)
    place = ((z.detach() + LOW) / STEP).floor().long().clamp(1, y.numel() - 3)
    t = (z + LOW) / STEP - place
    a, b, c, d = (y[place + k] for k in (-1, 0, 1, 2))
    out = (-a * t * (t - 1) * (t - 2) / 6 + b * (t + 1) * (t - 1) * (t - 2) / 2
           - c * (t + 1) * t * (t - 2) / 2 + d * (t + 1) * t * (t - 1) / 6)
    out = torch.where(x > 11, x.double(), torch.where(x < -11, x.double() * 0, out))
    return out.to(x.dtype)


def swiglu(x, w_gate, w_up, w_down):
    gate = x @ w_gate.T
    return (gate * torch.sigmoid(gate) * (x @ w_up.T)) @ w_down.T
