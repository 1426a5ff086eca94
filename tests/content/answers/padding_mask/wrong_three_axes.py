# wrong: pm-shape
import torch


def padding_mask(lengths, max_len):
    real = torch.arange(max_len, device=lengths.device) < lengths.unsqueeze(-1)
    return real.unsqueeze(1)


def causal_padding_mask(lengths, max_len):
    tri = torch.tril(torch.ones(max_len, max_len, device=lengths.device)) == 1
    return padding_mask(lengths, max_len) & tri
