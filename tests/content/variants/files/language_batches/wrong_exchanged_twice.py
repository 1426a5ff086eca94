# wrong: bat-parts-exchanged, bat-split-overlaps, bat-targets-exchanged, bat-transposed
import torch


def split(data, share=0.9):
    n = round(share * len(data))
    return data[n - 1 :], data[:n]


def get_batch(data, starts, block_size):
    windows = [data[s : s + block_size + 1] for s in starts.tolist()]
    block = torch.stack(windows, dim=1)
    return block[1:].clone(), block[:-1].clone()
