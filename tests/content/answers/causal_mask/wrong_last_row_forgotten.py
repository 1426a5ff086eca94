# wrong: cm-row-empty
import torch


def causal_mask(seq_len):
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool)
    for i in range(1, seq_len):
        mask[i, : i + 1] = True
    return mask
