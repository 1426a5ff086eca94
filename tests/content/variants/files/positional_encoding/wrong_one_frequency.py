# wrong: pe-one-frequency
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    positions = torch.arange(seq_len).unsqueeze(1)
    rate = 1 / 10000 ** (2 / d_model)  # for all columns
    table = torch.zeros(seq_len, d_model)
    table[:, 0::2] = torch.sin(positions * rate)
    table[:, 1::2] = torch.cos(positions * rate)
    return table
