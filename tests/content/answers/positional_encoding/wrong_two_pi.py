# wrong: pe-position-2pi
import math

import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    wavelength = 2 * math.pi / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    a = torch.arange(seq_len)[:, None] * wavelength
    pe = torch.empty(seq_len, d_model)
    pe[:, 0::2], pe[:, 1::2] = a.sin(), a.cos()
    return pe
