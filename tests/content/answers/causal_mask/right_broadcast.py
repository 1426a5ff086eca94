# right: the JAX habit: two iotas and a comparison
import torch


def causal_mask(seq_len):
    row = torch.arange(seq_len).view(-1, 1)
    col = torch.arange(seq_len).view(1, -1)
    return torch.ge(row, col)
