# wrong: ?
import torch


def causal_mask(seq_len):
    full = torch.ones(seq_len, seq_len).tril()
    return (full - full.tril(-5)).bool()
