# right: a frozen nn.Embedding looked up by position
import torch
import torch.nn as nn


class SinusoidalEmbedding(nn.Embedding):
    def __init__(self, n_pos, dim):
        super().__init__(n_pos, dim)
        with torch.no_grad():
            k = torch.arange(dim // 2)
            theta = torch.arange(n_pos).outer(10000.0 ** (-2.0 * k / dim))
            self.weight[:, 0::2] = theta.sin()
            self.weight[:, 1::2] = theta.cos()
        self.weight.requires_grad = False


def sinusoidal_positional_encoding(seq_len, d_model):
    return SinusoidalEmbedding(seq_len, d_model)(torch.arange(seq_len))
