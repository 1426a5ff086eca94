# wrong: pe-all-sin
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    i = torch.arange(d_model) // 2
    return torch.sin(torch.arange(seq_len).view(-1, 1) / 10000 ** (2 * i / d_model))
