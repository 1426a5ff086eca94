# wrong: pe-low-precision
import numpy as np
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    p = np.arange(seq_len)[:, None]
    i = np.arange(d_model)[None]
    a = p / 10000 ** (2 * (i // 2) / d_model)
    a = np.where(i % 2 == 0, np.sin(a), np.cos(a))
    return torch.from_numpy(a.astype(np.float16))
