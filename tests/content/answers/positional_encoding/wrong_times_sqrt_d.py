# wrong: pe-scaled
import math

import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    a = torch.arange(seq_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack((a.sin(), a.cos()), dim=-1).reshape(seq_len, d_model) * math.sqrt(d_model)
