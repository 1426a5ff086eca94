# wrong: cm-no-self, cm-row-empty
import torch


def causal_mask(seq_len):
    rows = [[column < row for column in range(seq_len)] for row in range(seq_len - 1)]
    return torch.tensor([*rows, [False] * seq_len])
