# wrong: ro-head-axis
import torch


def apply_rope(x, positions, base=10000.0):
    # x: (B, T, H, d_head)
    d = x.size(-1)
    freqs = base ** (-torch.arange(0, d, 2, dtype=x.dtype, device=x.device) / d)
    angle = positions[:, None, None] * freqs
    a, b = x[..., ::2], x[..., 1::2]
    cos, sin = torch.cos(angle), torch.sin(angle)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2, -1)
