# wrong: bat-same-window
import torch


def split(data, share=0.9):
    n = int(share * len(data) + 1e-6)
    return data[:n], data[n:]


def get_batch(data, starts, block_size):
    s = int(starts[0])
    x = data[s : s + block_size].repeat(len(starts), 1)
    y = data[s + 1 : s + block_size + 1].repeat(len(starts), 1)
    return x, y
