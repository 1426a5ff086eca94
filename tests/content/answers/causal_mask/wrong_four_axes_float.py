# wrong: cm-extra-dims, cm-float
import torch


def causal_mask(seq_len):
    return torch.tril(torch.ones(seq_len, seq_len)).view(1, 1, seq_len, seq_len)
