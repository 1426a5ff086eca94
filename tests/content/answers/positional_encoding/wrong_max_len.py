# wrong: pe-fixed-size
import torch


def sinusoidal_positional_encoding(seq_len, d_model, max_len=2048):
    pos = torch.arange(max_len).float()
    a = pos[:, None] * 10000 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.stack((a.sin(), a.cos()), dim=-1).reshape(max_len, d_model)
