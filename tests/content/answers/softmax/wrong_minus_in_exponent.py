# wrong: sm-sign, sm-shift-min-or-mean
import torch


def softmax(x, dim=-1):
    e = torch.exp(-(x - x.max(dim, keepdim=True).values))
    return e / e.sum(dim, keepdim=True)
