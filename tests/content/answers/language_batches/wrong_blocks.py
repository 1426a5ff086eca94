# wrong: bat-starts-in-blocks, bat-device
import torch


def split(data, share=0.9):
    n = int(share * len(data) + 1e-6)
    return data[:n], data[n:]


def get_batch(data, starts, block_size):
    starts = starts * block_size % (len(data) - 1)
    places = starts[:, None] + torch.arange(block_size)
    places = places % (len(data) - 1)
    return data[places], data[places + 1]
