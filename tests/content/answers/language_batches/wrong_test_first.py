# wrong: bat-split-first
import torch


def split(data, share=0.9):
    n = len(data) - round(share * len(data))
    return data[n:], data[:n]


def get_batch(data, starts, block_size):
    x = torch.stack([data[s : s + block_size] for s in starts])
    y = torch.stack([data[s + 1 : s + 1 + block_size] for s in starts])
    return x, y
