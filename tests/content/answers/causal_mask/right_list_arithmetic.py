# right: plain Python lists, multiplied and added
import torch


def causal_mask(seq_len):
    rows = [[True] * (i + 1) + [False] * (seq_len - i - 1) for i in range(seq_len)]
    return torch.tensor(rows)
