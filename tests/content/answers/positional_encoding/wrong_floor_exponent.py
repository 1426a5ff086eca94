# wrong: pe-integer-division
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    pe = torch.zeros(seq_len, d_model)
    for i in range(d_model):
        div = 10000 ** (2 * (i // 2) // d_model)
        angle = torch.arange(seq_len) / div
        pe[:, i] = angle.sin() if i % 2 == 0 else angle.cos()
    return pe
