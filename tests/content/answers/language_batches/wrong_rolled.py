# wrong: bat-rolled
import torch


def split(data, share=0.9):
    n = int(share * len(data) + 1e-6)
    return data[:n], data[n:]


def get_batch(data, starts, block_size):
    x = torch.stack([data[s : s + block_size] for s in starts])
    y = torch.roll(x, shifts=-1, dims=-1)
    return x, y
