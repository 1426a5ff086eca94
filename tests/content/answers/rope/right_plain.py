# right: as in the paper
import torch


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    theta = base ** (-torch.arange(0, d, 2, device=x.device, dtype=x.dtype) / d)
    m_theta = positions[:, None].to(x.dtype) * theta
    cos = m_theta.cos().repeat_interleave(2, dim=-1)
    sin = m_theta.sin().repeat_interleave(2, dim=-1)
    rotated = torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).reshape(x.shape)
    return x * cos + rotated * sin
