# wrong: pm-or
import torch


def padding_mask(lengths, max_len):
    return (torch.arange(max_len, device=lengths.device) < lengths[:, None])[:, None, None, :]


def causal_padding_mask(lengths, max_len):
    i = torch.arange(max_len, device=lengths.device)
    return (i[None, :] <= i[:, None]) | padding_mask(lengths, max_len)
