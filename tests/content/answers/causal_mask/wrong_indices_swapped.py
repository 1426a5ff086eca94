# wrong: cm-transposed
import torch


def causal_mask(seq_len):
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool)
    for i in range(seq_len):
        for j in range(seq_len):
            if i <= j:
                mask[i, j] = True
    return mask
