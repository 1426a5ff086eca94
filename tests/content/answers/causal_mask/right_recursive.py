# right: recursion: the mask for n tokens is the mask for n - 1 with a border
import torch
from torch.nn.functional import pad


def causal_mask(seq_len):
    if seq_len == 1:
        return torch.ones(1, 1, dtype=torch.bool)
    smaller = causal_mask(seq_len - 1)
    bigger = pad(smaller, (0, 1, 0, 1), value=False)
    bigger[-1] = True
    return bigger
