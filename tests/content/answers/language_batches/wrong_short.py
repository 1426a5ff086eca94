# wrong: bat-window-too-short
import torch


def split(data, share=0.9):
    n = int(share * len(data))
    return data[:n], data[n:]


def get_batch(data, starts, block_size):
    x = torch.stack([data[i:i + block_size] for i in starts])
    y = torch.stack([data[i + 1:i + block_size] for i in starts])
    return x, y
