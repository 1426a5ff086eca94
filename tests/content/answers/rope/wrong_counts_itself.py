# wrong: ro-positions-ignored
import torch


def apply_rope(x, positions, base=10000.0):
    seq_len, d = x.shape[-2:]
    pos = torch.arange(seq_len, dtype=x.dtype, device=x.device)
    z = torch.outer(pos, base ** (-torch.arange(0, d, 2, dtype=x.dtype, device=x.device) / d))
    c, s = z.cos(), z.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * c - b * s, a * s + b * c), dim=-1).flatten(start_dim=-2)
