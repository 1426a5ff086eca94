# wrong: cm-one-future
import torch


def causal_mask(seq_len):
    return torch.triu(torch.ones(seq_len, seq_len), diagonal=2) == 0
