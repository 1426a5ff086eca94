# wrong: cm-float
import torch


def causal_mask(seq_len):
    return torch.ones(seq_len, seq_len).long().tril()
