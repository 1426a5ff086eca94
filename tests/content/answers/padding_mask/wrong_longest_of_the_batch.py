# wrong: pm-max-of-batch
import torch


def padding_mask(lengths, max_len):
    T = int(lengths.max())
    return (torch.arange(T, device=lengths.device) < lengths[:, None]).reshape(len(lengths), 1, 1, T)


def causal_padding_mask(lengths, max_len):
    keys = padding_mask(lengths, max_len)
    T = keys.shape[-1]
    return torch.ones(T, T, dtype=torch.bool, device=lengths.device).tril() & keys
