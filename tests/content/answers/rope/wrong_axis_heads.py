# wrong: ro-head-axis
import torch


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    w = base ** (-torch.arange(0, d, 2, dtype=torch.float64, device=x.device) / d)
    a = positions.double()[:, None] * w
    if x.dim() == 4:
        a = a[None, :, None, :]
    cos, sin = a.cos().to(x.dtype), a.sin().to(x.dtype)
    e, o = x[..., 0::2], x[..., 1::2]
    return torch.stack([e * cos - o * sin, e * sin + o * cos], -1).flatten(-2)
