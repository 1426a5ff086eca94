# wrong: ?
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    return torch.eye(seq_len, d_model)
