# wrong: cm-fixed-size
import torch

MAX_LEN = 100
_TABLE = torch.ones(MAX_LEN, MAX_LEN, dtype=torch.bool).tril()


def causal_mask(seq_len):
    return _TABLE[:seq_len, :seq_len]
