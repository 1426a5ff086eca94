# wrong: bat-starts-in-blocks
import torch


def split(data, share=0.9):
    cut = round(share * len(data))
    return data[:cut].clone(), data[cut:].clone()


def get_batch(data, starts, block_size):
    begin = starts * block_size
    grid = begin.view(-1, 1) + torch.arange(block_size, device=data.device)
    n = data.numel()
    return data[grid % n], data[(grid + 1) % n]


if __name__ == "__main__":
    print(get_batch(torch.arange(10, 20), torch.tensor([0, 1]), 3))
