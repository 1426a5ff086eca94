# wrong: cm-only-first
import torch


def causal_mask(seq_len):
    mask = torch.zeros((seq_len, seq_len)).bool()
    mask[:, 0] = 1
    return mask
