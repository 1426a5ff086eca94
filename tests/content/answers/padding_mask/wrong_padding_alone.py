# wrong: pm-replaces-causal
import torch


def padding_mask(lengths, max_len):
    return (torch.arange(max_len, device=lengths.device) < lengths[:, None])[:, None, None, :]


def causal_padding_mask(lengths, max_len):
    mask = torch.tril(torch.ones(max_len, max_len, device=lengths.device)).bool()
    mask = padding_mask(lengths, max_len).expand(len(lengths), 1, max_len, max_len)
    return mask
