# wrong: pe-transposed
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    rows = []
    for j in range(d_model):
        w = 10000 ** (-2 * (j // 2) / d_model)
        f = torch.cos if j % 2 else torch.sin
        rows.append(f(torch.arange(seq_len) * w))
    return torch.stack(rows)
