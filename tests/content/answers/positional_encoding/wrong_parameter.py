# wrong: pe-is-parameter
import torch
import torch.nn as nn


def sinusoidal_positional_encoding(seq_len, d_model):
    table = torch.zeros(seq_len, d_model)
    angle = torch.arange(seq_len).view(-1, 1) / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    table[:, 0::2] = torch.sin(angle)
    table[:, 1::2] = torch.cos(angle)
    return nn.Parameter(table)
