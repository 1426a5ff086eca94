# right: d2l's way: a (1, T, D) table, the power of 10000, cut at the end
import torch


class PositionalEncoding:
    def __init__(self, num_hiddens, max_len=1000):
        self.P = torch.zeros((1, max_len, num_hiddens))
        X = torch.arange(max_len, dtype=torch.float32).reshape(-1, 1) / torch.pow(
            10000, torch.arange(0, num_hiddens, 2, dtype=torch.float32) / num_hiddens
        )
        self.P[:, :, 0::2] = torch.sin(X)
        self.P[:, :, 1::2] = torch.cos(X)


def sinusoidal_positional_encoding(seq_len, d_model):
    return PositionalEncoding(d_model, max_len=max(seq_len, 1000)).P[0, :seq_len, :]
