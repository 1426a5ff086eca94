# wrong: cm-transposed
import torch


def causal_mask(seq_len):
    mask = torch.ones(seq_len, seq_len)
    return torch.triu(mask).bool()
