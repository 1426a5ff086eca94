# right: one complex exponential for each pair
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    half = d_model // 2
    omega = torch.logspace(0, -4 * (half - 1) / half, half) if half > 1 else torch.ones(1)
    z = torch.exp(1j * torch.arange(seq_len)[:, None] * omega[None, :])
    out = torch.empty(seq_len, d_model)
    out[:, ::2] = z.imag
    out[:, 1::2] = z.real
    return out
