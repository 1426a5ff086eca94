# wrong: cm-transposed
import torch


def causal_mask(seq_len):
    i = torch.arange(seq_len)
    return i[None, :] >= i[:, None]
