# right: all places at once
import torch


def split(data, share=0.9):
    n = int(share * data.numel())
    return data[:n], data[n:]


def get_batch(data, starts, block_size):
    idx = starts.view(-1, 1) + torch.arange(block_size + 1, device=data.device).view(1, -1)
    chunk = data[idx]
    return chunk[:, :block_size].contiguous(), chunk[:, 1:].contiguous()
