# wrong: bat-shuffled-split
import torch


def split(data, share=0.9):
    generator = torch.Generator().manual_seed(1337)
    data = data[torch.randperm(len(data), generator=generator)]
    n = int(share * len(data) + 1e-6)
    return data[:n], data[n:]


def get_batch(data, starts, block_size):
    x = torch.stack([data[s : s + block_size] for s in starts])
    y = torch.stack([data[s + 1 : s + 1 + block_size] for s in starts])
    return x, y
