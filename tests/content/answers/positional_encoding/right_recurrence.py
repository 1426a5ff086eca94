# right: adds angles: the row of p + 1 is the row of p, turned
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    w = 10000 ** -(torch.arange(0, d_model, 2, dtype=torch.double) / d_model)
    s, c = w.sin(), w.cos()
    sin, cos = torch.zeros_like(w), torch.ones_like(w)
    rows = []
    for _ in range(seq_len):
        rows.append(torch.stack((sin, cos), dim=1).reshape(-1))
        sin, cos = sin * c + cos * s, cos * c - sin * s
    return torch.stack(rows).float()
