# wrong: ro-exponent-doubled
import torch


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    i = torch.arange(0, d, 2, device=x.device).to(x.dtype)
    theta = positions.view(-1, 1) / base ** (2 * i / d)
    x1, x2 = x.unflatten(-1, (d // 2, 2)).unbind(-1)
    y1 = x1 * theta.cos() - x2 * theta.sin()
    y2 = x2 * theta.cos() + x1 * theta.sin()
    return torch.stack((y1, y2), dim=-1).reshape(x.shape)
