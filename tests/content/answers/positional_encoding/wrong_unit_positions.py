# wrong: pe-position-normalised
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    p = torch.linspace(0, 1, seq_len)[:, None]
    w = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.stack(((p * w).sin(), (p * w).cos()), -1).flatten(1)
