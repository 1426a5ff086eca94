# wrong: ?
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    pe = torch.zeros(seq_len, d_model)
    angle = torch.arange(seq_len)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    pe[:, 0::2] = torch.sin(angle)
    pe[:, 0::2] = torch.cos(angle)
    return pe
