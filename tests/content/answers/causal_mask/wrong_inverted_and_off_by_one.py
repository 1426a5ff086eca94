# wrong: cm-transposed
import torch


def causal_mask(seq_len):
    # hide the past? hide the future? -1 keeps the diagonal
    return torch.tril(torch.ones(seq_len, seq_len), diagonal=-1) == 0
