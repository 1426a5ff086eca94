# wrong: pe-integer-output
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    pe = torch.arange(d_model).repeat(seq_len, 1)
    angle = torch.arange(seq_len).view(-1, 1) / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    pe[:, 0::2] = torch.sin(angle)
    pe[:, 1::2] = torch.cos(angle)
    return pe
