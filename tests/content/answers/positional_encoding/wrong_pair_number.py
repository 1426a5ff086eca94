# wrong: pe-exponent-halved
import torch


def sinusoidal_positional_encoding(seq_len, d_model):
    pairs = torch.arange(d_model // 2)
    theta = torch.einsum("p,i->pi", torch.arange(seq_len).float(), 10000.0 ** (-pairs / d_model))
    return torch.stack((theta.sin(), theta.cos()), -1).reshape(seq_len, d_model)
