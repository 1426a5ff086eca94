# wrong: pe-low-precision
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    pos = torch.arange(seq_len, dtype=torch.float16)[:, None]
    w = (10000.0 ** (-torch.arange(0, d_model, 2) / d_model)).half()
    a = pos * w
    return torch.stack((a.sin(), a.cos()), -1).flatten(1).float()
