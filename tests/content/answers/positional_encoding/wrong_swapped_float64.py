# wrong: pe-swapped, wrong-format
import numpy as np
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    table = np.zeros((seq_len, d_model))
    for position in range(seq_len):
        for i in range(d_model // 2):
            angle = position / np.power(10000, 2 * i / d_model)
            table[position, 2 * i], table[position, 2 * i + 1] = np.cos(angle), np.sin(angle)
    return torch.from_numpy(table)
