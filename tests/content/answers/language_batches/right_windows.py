# right: windows of T + 1 ids, cut in two
import torch


def split(data, share=0.9):
    first = round(len(data) * share)
    return torch.split(data, [first, len(data) - first])


def get_batch(data, starts, block_size):
    windows = data.unfold(0, block_size + 1, 1)[starts]
    return windows[:, :-1], windows[:, 1:]
