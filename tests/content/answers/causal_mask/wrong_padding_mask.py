# wrong: cm-all-true
import torch


def causal_mask(seq_len):
    lengths = torch.tensor([seq_len])
    keep = torch.arange(seq_len)[None, :] < lengths[:, None]
    return keep.expand(seq_len, seq_len)
