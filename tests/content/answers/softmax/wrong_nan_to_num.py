# wrong: sm-overflow
import torch


def softmax(x, dim=-1):
    e = x.exp()
    p = e / e.sum(dim=dim, keepdim=True)
    return torch.nan_to_num(p)
