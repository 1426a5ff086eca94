# wrong: wrong-signature
import torch


def causal_mask(x, seq_len):
    return torch.tril(torch.ones(seq_len, seq_len, device=x.device)).bool()
