# wrong: ?
import torch


def padding_mask(lengths, max_len):
    steps = torch.arange(max_len, device=lengths.device)
    return steps[None, None, None, :] < lengths[:, None, None, None]


def causal_padding_mask(lengths, max_len):
    causal = torch.ones(1024, 1024, dtype=torch.bool, device=lengths.device).tril()[:max_len, :max_len]
    return padding_mask(lengths, max_len) & causal
