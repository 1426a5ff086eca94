# wrong: ro-added
import torch


def apply_rope(x, positions, base=10000.0):
    d = x.size(-1)
    angle = positions[:, None] / base ** (torch.arange(0, d, 2, device=x.device, dtype=x.dtype) / d)
    table = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
    return x + table
