# wrong: pe-base
import math

import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    rates = torch.exp(torch.arange(0, d_model, 2) * (-math.log10(10000.0) / d_model))
    angles = torch.arange(seq_len).reshape(-1, 1) * rates
    return torch.stack((angles.sin(), angles.cos()), dim=2).view(seq_len, d_model)
