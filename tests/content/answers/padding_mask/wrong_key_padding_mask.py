# wrong: pm-inverted
import torch


def padding_mask(lengths, max_len):
    # True = ignore, as nn.MultiheadAttention wants it
    return (torch.arange(max_len, device=lengths.device)[None] >= lengths[:, None]).view(-1, 1, 1, max_len)


def causal_padding_mask(lengths, max_len):
    future = torch.triu(torch.ones(max_len, max_len, device=lengths.device), 1).bool()
    return padding_mask(lengths, max_len) | future
