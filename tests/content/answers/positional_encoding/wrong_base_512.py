# wrong: ?
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    w = 512.0 ** (-torch.arange(0, d_model, 2) / d_model)
    a = torch.arange(seq_len).outer(w)
    return torch.stack((a.sin(), a.cos()), -1).flatten(1)
