# right: exponentials times the mask, divided by what is left
import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    s = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if mask is not None:
        s = torch.where(mask, s, torch.full_like(s, torch.finfo(s.dtype).min))
    e = torch.exp(s - s.amax(dim=-1, keepdim=True).detach())
    if mask is not None:
        e = e * mask
    return (e @ v) / e.sum(dim=-1, keepdim=True)
