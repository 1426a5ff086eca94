# wrong: pe-endpoint
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    exponents = torch.linspace(0, 1, d_model // 2)
    angles = torch.arange(seq_len)[:, None] / 10000**exponents
    return torch.stack([torch.sin(angles), torch.cos(angles)], dim=2).view(seq_len, d_model)
