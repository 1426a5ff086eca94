# wrong: pe-position-from-1
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    rows = []
    for p in range(1, seq_len + 1):
        row = []
        for i in range(d_model // 2):
            w = torch.tensor(p / 10000 ** (2 * i / d_model))
            row += [torch.sin(w), torch.cos(w)]
        rows.append(torch.stack(row))
    return torch.stack(rows)
