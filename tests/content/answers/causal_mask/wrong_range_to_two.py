# wrong: cm-one-future
import torch


def causal_mask(seq_len):
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool)
    for i in range(seq_len):
        mask[i, : i + 2] = True
    return mask
