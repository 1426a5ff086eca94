# right: filled entry by entry
import torch


def split(data, share=0.9):
    n = int(share * len(data) + 1e-6)
    return data[:n], data[n:]


def get_batch(data, starts, block_size):
    B = len(starts)
    inputs = torch.empty(B, block_size, dtype=data.dtype, device=data.device)
    targets = torch.empty_like(inputs)
    for b in range(B):
        for t in range(block_size):
            inputs[b, t] = data[starts[b] + t]
            targets[b, t] = data[starts[b] + t + 1]
    return inputs, targets
