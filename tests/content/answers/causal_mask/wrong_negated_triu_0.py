# wrong: cm-no-self
import torch


def causal_mask(seq_len):
    return ~torch.triu(torch.ones((seq_len, seq_len), dtype=torch.bool))
