# wrong: pe-halves
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    freqs = torch.exp(-torch.arange(0, d_model, 2) / d_model * 9.210340371976184)
    angles = torch.arange(seq_len)[:, None] * freqs
    return torch.cat([angles.sin(), angles.cos()], dim=-1)
