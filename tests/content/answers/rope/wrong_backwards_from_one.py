# wrong: ro-direction, ro-from-one
import torch


def apply_rope(x, positions, base=10000.0):
    d = x.size(-1)
    p = (positions + 1).to(x.dtype)
    w = base ** (-torch.arange(0, d, 2, dtype=x.dtype, device=x.device) / d)
    w = torch.exp(-1j * torch.outer(p, w))
    z = torch.complex(x[..., ::2], x[..., 1::2]) * w
    return torch.stack((z.real, z.imag), dim=-1).flatten(-2)
