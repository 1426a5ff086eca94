# wrong: ro-joined, ro-sign
import torch


def apply_rope(x, positions, base=10000.0):
    d = x.size(-1)
    rate = torch.pow(base, -torch.arange(0, d, 2, dtype=x.dtype, device=x.device) / d)
    angle = positions.unsqueeze(-1) * rate
    even, odd = x[..., ::2], x[..., 1::2]
    new_even = even * angle.cos() + odd * angle.sin()
    new_odd = even * angle.sin() + odd * angle.cos()
    return torch.cat([new_even, new_odd], dim=-1)
