# wrong: pm-additive
import torch


def padding_mask(lengths, max_len):
    mask = torch.zeros(len(lengths), 1, 1, max_len, device=lengths.device)
    for row, n in zip(mask, lengths.tolist(), strict=True):
        row[..., n:] = -1e9
    return mask


def causal_padding_mask(lengths, max_len):
    mask = padding_mask(lengths, max_len).repeat(1, 1, max_len, 1)
    future = torch.ones(max_len, max_len, device=lengths.device).triu(1).bool()
    return mask.masked_fill(future, -1e9)
