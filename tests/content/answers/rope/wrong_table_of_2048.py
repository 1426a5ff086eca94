# wrong: ?
import torch


def rotate_every_two(x):
    x1 = x[..., ::2]
    x2 = x[..., 1::2]
    return torch.stack((-x2, x1), dim=-1).flatten(-2)


def apply_rope(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2, dtype=torch.float64, device=x.device) / dim))
    sinusoid = (torch.arange(2048, device=x.device).double()[:, None] * inv_freq[None, :])[positions]
    sin = sinusoid.sin().repeat_interleave(2, dim=-1).to(x.dtype)
    cos = sinusoid.cos().repeat_interleave(2, dim=-1).to(x.dtype)
    return x * cos + rotate_every_two(x) * sin
