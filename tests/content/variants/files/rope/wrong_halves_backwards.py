# wrong: ro-half-split, ro-direction
import torch


def apply_rope(x, positions, base=10000.0):
    n = x.shape[-1] // 2
    rates = base ** (-torch.arange(n, dtype=x.dtype, device=x.device) / n)
    t = positions.to(x.dtype)[:, None] * rates[None, :]
    lo, hi = x[..., :n], x[..., n:]
    return torch.cat((lo * t.cos() + hi * t.sin(), hi * t.cos() - lo * t.sin()), dim=-1)
