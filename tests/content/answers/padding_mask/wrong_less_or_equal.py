# wrong: pm-off-by-one
import torch


def padding_mask(lengths, max_len):
    idx = torch.arange(max_len, device=lengths.device).unsqueeze(0)
    return (idx <= lengths.unsqueeze(1))[:, None, None]


def causal_padding_mask(lengths, max_len):
    tri = torch.ones(max_len, max_len, dtype=torch.bool, device=lengths.device).tril()
    return tri & padding_mask(lengths, max_len)
