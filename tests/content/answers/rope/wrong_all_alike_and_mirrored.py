# wrong: ro-one-angle, ro-cos-sin-swapped
import torch


def apply_rope(x, positions, base=10000.0):
    angle = positions[:, None].to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    cos, sin = torch.sin(angle), torch.cos(angle)
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)
