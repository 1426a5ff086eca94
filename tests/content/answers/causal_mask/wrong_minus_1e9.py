# wrong: cm-additive
import torch


def causal_mask(seq_len):
    m = torch.full((seq_len, seq_len), -1e9)
    return torch.triu(m, 1)
