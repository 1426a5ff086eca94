# wrong: pe-floor-precedence
import math

import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    y_position = torch.ones(seq_len, d_model).cumsum(0).float() - 1
    div_term = torch.exp(torch.arange(0, d_model // 2, 1).float() * (-math.log(10000.0) / d_model // 2))
    pe = torch.zeros(seq_len, d_model)
    pe[:, 0::2] = torch.sin(y_position[:, : d_model // 2] * div_term)
    pe[:, 1::2] = torch.cos(y_position[:, : d_model // 2] * div_term)
    return pe
