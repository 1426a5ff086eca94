# wrong: pe-per-channel
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    j = torch.arange(d_model)
    angles = torch.arange(seq_len)[:, None] / torch.pow(10000.0, j / d_model)
    angles[:, 0::2] = torch.sin(angles[:, 0::2])
    angles[:, 1::2] = torch.cos(angles[:, 1::2])
    return angles
