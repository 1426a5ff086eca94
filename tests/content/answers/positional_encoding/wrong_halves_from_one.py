# wrong: pe-halves, pe-position-from-1
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    pos = torch.arange(1, seq_len + 1)[:, None]
    w = 10000 ** (-2 * torch.arange(d_model // 2) / d_model)
    return torch.hstack([torch.sin(pos * w), torch.cos(pos * w)])
