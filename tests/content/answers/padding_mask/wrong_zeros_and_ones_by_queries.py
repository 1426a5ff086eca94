# wrong: pm-float, pm-query-axis, pm-causal-only
import torch


def padding_mask(lengths, max_len):
    real = (torch.arange(max_len, device=lengths.device) < lengths[:, None]).float()
    return real[:, None, :, None]


def causal_padding_mask(lengths, max_len):
    return torch.tril(torch.ones(max_len, max_len, device=lengths.device)).bool().expand(len(lengths), 1, -1, -1)
