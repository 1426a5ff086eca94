# wrong: ro-in-place
import torch


def apply_rope(x, positions, base=10000.0):
    d = x.size(-1)
    angle = positions[:, None] * base ** (-torch.arange(0, d, 2, dtype=x.dtype, device=x.device) / d)
    even, odd = x[..., 0::2].clone(), x[..., 1::2].clone()
    x[..., 0::2] = even * angle.cos() - odd * angle.sin()
    x[..., 1::2] = even * angle.sin() + odd * angle.cos()
    return x
