# wrong: cm-no-self
import torch


def causal_mask(seq_len):
    pos = torch.arange(seq_len)
    return pos.unsqueeze(0) < pos.unsqueeze(1)
