# wrong: ?
import torch


def softmax(x, dim=-1):
    biggest = max(x.flatten().tolist())
    biggest_float = x.new_full((1,), biggest)
    e = torch.exp(x - biggest_float) + 1e-12
    return e / e.sum(dim, keepdim=True)
