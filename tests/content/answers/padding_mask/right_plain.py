# right: as in a course
import torch


def padding_mask(lengths, max_len):
    idx = torch.arange(max_len, device=lengths.device)
    mask = idx[None, :] < lengths[:, None]
    return mask.unsqueeze(1).unsqueeze(1)


def causal_padding_mask(lengths, max_len):
    look_back = torch.tril(torch.ones(max_len, max_len, device=lengths.device)).bool()
    return padding_mask(lengths, max_len) & look_back
