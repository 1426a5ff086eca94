# wrong: pm-both-axes
import torch


def padding_mask(lengths, max_len):
    real = torch.arange(max_len, device=lengths.device) < lengths[:, None]
    return (real[:, :, None] * real[:, None, :]).unsqueeze(1)


def causal_padding_mask(lengths, max_len):
    return padding_mask(lengths, max_len).tril()
