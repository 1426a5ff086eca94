# wrong: pe-all-sin, pe-exponent-halved
import math

import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    rows = []
    for p in range(seq_len):
        row = []
        for i in range(d_model // 2):
            angle = p / 10000 ** (i / d_model)
            row += [math.sin(angle), math.sin(angle + math.pi)]
        rows.append(row)
    return torch.tensor(rows)
