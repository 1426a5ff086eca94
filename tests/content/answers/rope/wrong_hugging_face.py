# wrong: ro-half-split
import torch


def rotate_half(x):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def apply_rope(x, positions, base=10000.0):
    inv_freq = 1.0 / (base ** (torch.arange(0, x.shape[-1], 2, dtype=x.dtype, device=x.device) / x.shape[-1]))
    freqs = positions[:, None].to(x.dtype) * inv_freq[None, :]
    emb = torch.cat((freqs, freqs), dim=-1)
    return x * emb.cos() + rotate_half(x) * emb.sin()
