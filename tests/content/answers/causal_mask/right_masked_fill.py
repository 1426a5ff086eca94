# right: fills in place on a tensor it has just made
import torch


def causal_mask(seq_len):
    mask = torch.ones(seq_len, seq_len, dtype=torch.bool)
    mask.masked_fill_(torch.ones(seq_len, seq_len).triu_(1) > 0, False)
    assert mask.shape == (seq_len, seq_len)
    return mask
