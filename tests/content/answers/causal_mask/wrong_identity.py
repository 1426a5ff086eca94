# wrong: cm-self-only
import torch


def causal_mask(seq_len):
    return torch.eye(seq_len, dtype=torch.bool)
