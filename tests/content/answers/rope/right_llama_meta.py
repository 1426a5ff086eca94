# right: Meta's Llama, with complex numbers
import torch


def precompute_freqs_cis(dim, t, theta, dtype):
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2, device=t.device).to(dtype) / dim))
    freqs = torch.outer(t.to(dtype), freqs)
    return torch.polar(torch.ones_like(freqs), freqs)


def apply_rope(x, positions, base=10000.0):
    freqs_cis = precompute_freqs_cis(x.size(-1), positions, base, x.dtype)
    x_ = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(x_ * freqs_cis).flatten(-2).type_as(x)
