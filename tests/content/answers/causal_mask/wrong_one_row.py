# wrong: ?
import torch


def causal_mask(seq_len):
    return torch.ones(seq_len, dtype=torch.bool)
