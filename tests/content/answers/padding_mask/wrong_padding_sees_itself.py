# wrong: pm-padding-sees, pm-one-length
import torch


def padding_mask(lengths, max_len):
    longest = lengths.max()
    return (torch.arange(max_len, device=lengths.device) < longest).repeat(len(lengths), 1, 1, 1)


def causal_padding_mask(lengths, max_len):
    pos = torch.arange(max_len, device=lengths.device)
    real = pos < lengths[:, None]
    mask = real[:, None, :] & real[:, :, None] & (pos[:, None] >= pos)
    mask = mask | (~real[:, :, None] & (pos[:, None] >= pos) & real[:, None, :])
    mask = mask | torch.diag(torch.ones_like(pos)).bool()  # so that no row is empty
    return mask[:, None]
