# wrong: ro-mixed
import torch


def apply_rope(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    inv = base ** (-torch.arange(half, device=x.device, dtype=x.dtype) / half)
    emb = torch.outer(positions.to(x.dtype), inv).repeat(1, 2)
    x_even, x_odd = x[..., ::2], x[..., 1::2]
    swapped = torch.stack((-x_odd, x_even), -1).view(*x.shape)
    return emb.cos() * x + emb.sin() * swapped
