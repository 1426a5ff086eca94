# wrong: pm-left
import torch


def padding_mask(lengths, max_len):
    start = (max_len - lengths)[:, None]
    return (torch.arange(max_len, device=lengths.device)[None, :] >= start)[:, None, None, :]


def causal_padding_mask(lengths, max_len):
    causal = torch.ones(max_len, max_len, device=lengths.device).tril().bool()
    return causal[None, None] & padding_mask(lengths, max_len)
