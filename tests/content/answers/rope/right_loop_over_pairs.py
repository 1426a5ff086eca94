# right: one pair after the other, into a new tensor
import torch


def apply_rope(x, positions, base=10000.0):
    out = torch.empty_like(x)
    d_head = x.size(-1)
    for i in range(d_head // 2):
        a = positions.to(x.dtype) * base ** (-2 * i / d_head)
        out[..., 2 * i] = x[..., 2 * i] * torch.cos(a) - x[..., 2 * i + 1] * torch.sin(a)
        out[..., 2 * i + 1] = x[..., 2 * i] * torch.sin(a) + x[..., 2 * i + 1] * torch.cos(a)
    return out
