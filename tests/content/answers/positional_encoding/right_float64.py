# right: computes in float64 and casts at the end
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    pos = torch.arange(seq_len, dtype=torch.float64)[:, None]
    i = torch.arange(d_model // 2, dtype=torch.float64)[None, :]
    angles = pos / (10000.0 ** (2 * i / d_model))
    pe = torch.zeros(seq_len, d_model, dtype=torch.float64)
    pe[:, 0::2], pe[:, 1::2] = angles.sin(), angles.cos()
    return pe.to(torch.float32)
